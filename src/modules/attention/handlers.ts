import type { Handlers } from '../../../generated/handlers.js';
import { reply } from '../../platform/contract/reply.js';
import { countOf } from '../../platform/values/count-of.js';
import type { Deps } from '../dependencies.js';
import { readAttention } from './attention.js';

export function attentionHandlers({ bulk }: Pick<Deps, 'bulk'>) {
  return {
    async getAttention({ ctx }) {
      const items = await bulk.limitReport(ctx.caller, () => readAttention(ctx));
      const waiting = items.filter(({ count }) => count > 0);
      return reply(`${countOf(waiting.length, 'kind of record needs', 'kinds of records need')} attention.`, {
        items,
      });
    },
  } satisfies Pick<Handlers, 'getAttention'>;
}
