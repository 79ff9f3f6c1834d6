import type { Handlers } from '../../../../generated/handlers.js';
import type { Deps } from '../../dependencies.js';
import { listSyncs, requestSync } from './sync-run.js';
import { viewSync } from './view.js';

export function customerSyncHandlers({ db }: Deps) {
  return {
    async syncCustomers({ body, caller, requestId }) {
      // Only declared keys of the body are validated, so only they are passed on.
      const { courier_id } = body;
      const { row, isNew } = await requestSync(db, caller, requestId, { courier_id });
      const message = isNew
        ? 'Synchronisation queued.'
        : 'A synchronisation of these customers is already queued or running.';
      return { statusCode: 200, message, data: viewSync(row) };
    },

    async listCustomerSyncs({ query, caller }) {
      const { rows, nextBefore } = await listSyncs(db, caller, query);
      return {
        statusCode: 200,
        message: rows.length === 1 ? '1 synchronisation.' : `${rows.length} synchronisations.`,
        data: rows.map(viewSync),
        meta: { limit: query.limit, next_before: nextBefore },
      };
    },
  } satisfies Pick<Handlers, 'syncCustomers' | 'listCustomerSyncs'>;
}
