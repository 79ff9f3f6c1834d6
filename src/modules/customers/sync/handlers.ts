import type { Handlers } from '../../../../generated/handlers.js';
import { listSyncs, requestSync } from './sync-run.js';
import { viewSync } from './view.js';
import { countOf } from '../../../platform/values/count-of.js';

export function customerSyncHandlers() {
  return {
    async syncCustomers({ ctx, body }) {
      const { row, isNew } = await requestSync(ctx, body.courier_id);
      const message = isNew
        ? 'Synchronisation queued.'
        : 'A synchronisation of these customers is already queued or running.';
      return { statusCode: 200, message, data: viewSync(row) };
    },

    async listCustomerSyncs({ ctx, query }) {
      const { rows, nextBefore } = await listSyncs(ctx, query);
      return {
        statusCode: 200,
        message: `${countOf(rows.length, 'synchronisation')}.`,
        data: rows.map(viewSync),
        meta: { limit: query.limit, next_before: nextBefore },
      };
    },
  } satisfies Pick<Handlers, 'syncCustomers' | 'listCustomerSyncs'>;
}
