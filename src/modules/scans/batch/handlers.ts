import type { Handlers } from '../../../../generated/handlers.js';
import type { Deps } from '../../dependencies.js';
import { executeBatch } from './execute-batch.js';
import { describeBatch, viewBatch } from './view.js';

/** Stations send what was scanned in some seconds. A larger batch is that of a station that was offline. */
const MAX_LIGHT_SCANS = 100;

export function scanBatchHandlers({ bulk }: Deps) {
  return {
    async sendScans({ ctx, body }) {
      const execute = () => executeBatch(ctx, body.station, body.scans);
      const isLight = body.scans.length <= MAX_LIGHT_SCANS;
      const data = viewBatch(await (isLight ? execute() : bulk.limitBatch(ctx.tenantId, execute)));
      return { statusCode: 200, message: describeBatch(data), data };
    },
  } satisfies Partial<Handlers>;
}
