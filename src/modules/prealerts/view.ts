import type { DataOf } from '../../platform/contract/types.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { PrealertRow } from './queries.js';

export function viewPrealert(row: PrealertRow): DataOf<'replacePrealert'> {
  return {
    prealert_id: row.id,
    courier_id: row.courier_id,
    courier_name: row.courier_name,
    user_code: row.user_code,
    first_name: row.first_name,
    last_name: row.last_name,
    tracking_number: row.tracking_number,
    vendor: row.vendor,
    description: row.description,
    reference: row.reference,
    status: row.status,
    created_at: formatDateTime(row.created_at),
  };
}
