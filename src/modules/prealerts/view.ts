import type { DataOf } from '../../platform/contract/types.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { PrealertRow } from './list-queries.js';

export function viewPrealert(row: PrealertRow): DataOf<'replacePrealert'> {
  return {
    prealert_id: row.id,
    courier_id: row.courierId,
    courier_name: row.courierName,
    user_code: row.userCode,
    first_name: row.firstName,
    last_name: row.lastName,
    tracking_number: row.trackingNumber,
    vendor: row.vendor,
    description: row.description,
    reference: row.reference,
    status: row.status,
    created_at: formatDateTime(row.createdAt),
  };
}
