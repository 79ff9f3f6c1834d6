import type { Handlers } from '../../../../generated/handlers.js';
import { reply } from '../../../platform/contract/reply.js';
import { countOf } from '../../../platform/values/count-of.js';
import type { Deps } from '../../dependencies.js';
import { readStatistics } from './statistics.js';
import { readWork } from './work.js';

export function packageStatisticsHandlers({ bulk }: Deps) {
  return {
    async getPackageStatistics({ ctx, query }) {
      const data = await bulk.limitReport(ctx.caller, () => readStatistics(ctx, query));
      return reply(`${countOf(data.total.count, 'package')} received.`, data);
    },

    async getWorkStatistics({ ctx, query }) {
      const data = await bulk.limitReport(ctx.caller, () => readWork(ctx, query));
      return reply(`Work of ${countOf(data.days.length, 'day')}.`, data);
    },
  } satisfies Partial<Handlers>;
}
