import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { RunRow } from './run-queries.js';

const timeOrNull = (date: Date | null) => date && formatDateTime(date);

export const viewSync = (row: RunRow): DataOf<'syncCustomers'> => ({
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
