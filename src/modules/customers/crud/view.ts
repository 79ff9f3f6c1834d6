import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { CustomerRow } from './queries.js';

export function viewCustomer(row: CustomerRow): DataOf<'updateCustomer'> {
  return {
    courier_customer_id: row.id,
    user_code: row.user_code,
    first_name: row.first_name,
    last_name: row.last_name,
    branch: row.branch,
    is_active: row.is_active ? 1 : 0,
    courier_id: row.courier_id,
    courier_name: row.courier_name,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
  };
}
