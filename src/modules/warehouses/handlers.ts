import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import { viewWarehouse } from './view.js';
import {
  createWarehouse,
  deleteWarehouse,
  listWarehouses,
  makePrimary,
  updateWarehouse,
} from './warehouse.js';
import { countOf } from '../../platform/values/count-of.js';

type Managed = Promise<ReplyOf<'manageWarehouses'>>;

export function warehouseHandlers() {
  return {
    async listWarehouses({ ctx, query }) {
      const { rows, total } = await listWarehouses(ctx, query);
      return {
        statusCode: 200,
        message: `${countOf(total, 'warehouse')} found.`,
        data: rows.map(viewWarehouse),
        meta: {
          current_page: query.page,
          per_page: query.limit,
          total_records: total,
          total_pages: Math.ceil(total / query.limit),
        },
      };
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
  } satisfies Pick<Handlers, 'listWarehouses' | 'manageWarehouses'>;
}
