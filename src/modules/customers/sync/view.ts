import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { RunRow } from './run-queries.js';

const momentOrNull = (date: Date | null) => date && formatDateTime(date);

export const viewSync = (row: RunRow): DataOf<'syncCustomers'> => ({
  run_id: row.run_id,
  courier_id: row.courier_id,
  courier_name: row.courier_name,
  origin: row.origin,
  status: row.status,
  http_status: row.http_status,
  received: row.received,
  created: row.created,
  updated: row.updated,
  unchanged: row.unchanged,
  skipped: row.skipped,
  problems: row.problems ?? [],
  error: row.error,
  created_at: formatDateTime(row.created_at),
  started_at: momentOrNull(row.started_at),
  finished_at: momentOrNull(row.finished_at),
});
