import type { Handlers } from '../../../../generated/handlers.js';
import type { Deps } from '../../dependencies.js';
import { executeBatch } from './execute-batch.js';
import { describeBatch, viewBatch } from './view.js';

export function scanBatchHandlers({ bulk }: Deps) {
  return {
    async sendScans({ ctx, body }) {
      const { station, scans } = body;
      const execute = (giveWay: () => Promise<void>) => executeBatch(ctx, { station, scans }, giveWay);
      const data = viewBatch(await bulk.limitBatch(ctx.caller, scans.length, execute));
      return { statusCode: 200, message: describeBatch(data), data };
    },
  } satisfies Partial<Handlers>;
}
