import type { DataOf } from '../../platform/contract/types.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { WarehouseRow } from './queries.js';

export function viewWarehouse(row: WarehouseRow): DataOf<'manageWarehouses'> {
  return {
    warehouse_id: row.id,
    name: row.name,
    address: row.address,
    city: row.city,
    country: row.country,
    phone: row.phone,
    email: row.email,
    is_primary: row.isPrimary,
    loading_gate: row.loadingGate,
    weight_question_lb: row.weightQuestionLb,
    created_at: formatDateTime(row.createdAt),
  };
}
