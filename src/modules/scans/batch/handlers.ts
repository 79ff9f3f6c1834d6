import type { Handlers } from '../../../../generated/handlers.js';
import { executeBatch } from './execute-batch.js';
import { describeBatch, viewBatch } from './view.js';

export function scanBatchHandlers() {
  return {
    async sendScans({ ctx, body }) {
      const data = viewBatch(await executeBatch(ctx, body.station, body.scans));
      return { statusCode: 200, message: describeBatch(data), data };
    },
  } satisfies Partial<Handlers>;
}
