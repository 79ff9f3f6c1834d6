import { pageReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf, type DataOf } from '../../platform/contract/types.js';
import {
  createWarehouse,
  deleteWarehouse,
  listWarehouses,
  makePrimary,
  updateWarehouse,
} from './warehouse.js';
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
        create: async (fields): Managed =>
          reply('Warehouse created.', viewWarehouse(await createWarehouse(ctx, fields))),
        update: async ({ warehouse_id: id, ...fields }): Managed => {
          const { row, isChanged } = await updateWarehouse(ctx, id, fields);
          const already = nothingToChange('manageWarehouses', body, {
            selectors: ['warehouse_id'],
            already: 'The warehouse already has these values.',
          });
          return reply(outcomeOf(isChanged, 'Warehouse updated.', already), viewWarehouse(row));
        },
        make_primary: async ({ warehouse_id: id }): Managed => {
          const { row, isChanged } = await makePrimary(ctx, id);
          const done = `${row.name} is the primary warehouse now.`;
          const already = 'The warehouse is already the primary one.';
          return reply(outcomeOf(isChanged, done, already), viewWarehouse(row));
        },
        delete: async ({ warehouse_id: id }): Managed =>
          reply('Warehouse deleted.', viewWarehouse(await deleteWarehouse(ctx, id))),
      });
    },
  } satisfies Partial<Handlers>;
}

const viewWarehouse = ({ id, ...row }: WarehouseRow): DataOf<'manageWarehouses'> => ({
  warehouse_id: id,
  ...recordOf(row),
});
