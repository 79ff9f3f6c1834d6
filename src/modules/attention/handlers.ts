import type { Handlers } from '../../../generated/handlers.js';
import { reply } from '../../platform/contract/reply.js';
import { countOf } from '../../platform/values/count-of.js';
import type { Deps } from '../dependencies.js';
import { countsOfAttention } from './queries.js';

export function attentionHandlers({ bulk }: Pick<Deps, 'bulk'>) {
  return {
    /** Reads everything that waits, so it is a report: it takes as long as there are such packages. */
    async getAttention({ ctx }) {
      const [items] = await bulk.limitReport(ctx.caller, () =>
        ctx.read([countsOfAttention(ctx)], { from: 'replica' }),
      );
      const waiting = items.filter(({ count }) => count > 0);
      return reply(`${countOf(waiting.length, 'kind of record needs', 'kinds of records need')} attention.`, {
        items,
      });
    },
  } satisfies Pick<Handlers, 'getAttention'>;
}
