import { pageReply } from '../../platform/contract/page-reply.js';
import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf, type DataOf } from '../../platform/contract/types.js';
import {
  createWarehouse,
  deleteWarehouse,
  listWarehouses,
  makePrimary,
  updateWarehouse,
} from './warehouse.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { WarehouseRow } from './queries.js';

type Managed = Promise<ReplyOf<'manageWarehouses'>>;

export function warehouseHandlers() {
  return {
    async listWarehouses({ ctx, query }) {
      const { rows, total } = await listWarehouses(ctx, query);
      return pageReply(query, total, 'warehouse', rows.map(viewWarehouse));
    },

    async manageWarehouses({ ctx, body }) {
      return byAction(body, {
        create: async (fields): Managed => {
          const row = await createWarehouse(ctx, fields);
          return { statusCode: 200, message: 'Warehouse created.', data: viewWarehouse(row) };
        },
        update: async ({ warehouse_id: id, ...fields }): Managed => {
          const { row, isChanged } = await updateWarehouse(ctx, id, fields);
          const message = isChanged
            ? 'Warehouse updated.'
            : 'The warehouse already has these values. Nothing was changed.';
          return { statusCode: 200, message, data: viewWarehouse(row) };
        },
        make_primary: async ({ warehouse_id: id }): Managed => {
          const { row, isChanged } = await makePrimary(ctx, id);
          const message = isChanged
            ? `${row.name} is the primary warehouse now.`
            : 'The warehouse is already the primary one. Nothing was changed.';
          return { statusCode: 200, message, data: viewWarehouse(row) };
        },
        delete: async ({ warehouse_id: id }): Managed => {
          const row = await deleteWarehouse(ctx, id);
          return { statusCode: 200, message: 'Warehouse deleted.', data: viewWarehouse(row) };
        },
      });
    },
  } satisfies Partial<Handlers>;
}

function viewWarehouse(row: WarehouseRow): DataOf<'manageWarehouses'> {
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
