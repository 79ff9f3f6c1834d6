import type { Handlers } from '../../../../generated/handlers.js';
import { listSyncs, requestSync } from './sync-run.js';
import { countOf } from '../../../platform/values/count-of.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { RunRow } from './run-queries.js';

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
      const { rows, meta } = await listSyncs(ctx, query);
      return {
        statusCode: 200,
        message: `${countOf(rows.length, 'synchronisation')}.`,
        data: rows.map(viewSync),
        meta,
      };
    },
  } satisfies Partial<Handlers>;
}

const timeOrNull = (date: Date | null) => date && formatDateTime(date);

const viewSync = (row: RunRow): DataOf<'syncCustomers'> => ({
  run_id: row.id,
  courier_id: row.courierId,
  courier_name: row.courierName,
  origin: row.origin,
  status: row.status,
  http_status: row.httpStatus,
  received: row.received,
  created: row.created,
  updated: row.updated,
  unchanged: row.unchanged,
  skipped: row.skipped,
  problems: row.problems ?? [],
  error: row.error,
  created_at: formatDateTime(row.createdAt),
  started_at: timeOrNull(row.startedAt),
  finished_at: timeOrNull(row.finishedAt),
});
