import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { CustomerRow } from './queries.js';

export function viewCustomer(row: CustomerRow): DataOf<'updateCustomer'> {
  return {
    courier_customer_id: row.id,
    user_code: row.userCode,
    first_name: row.firstName,
    last_name: row.lastName,
    branch: row.branch,
    is_active: row.isActive ? 1 : 0,
    courier_id: row.courierId,
    courier_name: row.courierName,
    created_at: formatDateTime(row.createdAt),
    updated_at: formatDateTime(row.updatedAt),
  };
}
