import { pageReply } from '../../platform/contract/page-reply.js';
import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type DataOf, type ReplyOf } from '../../platform/contract/types.js';
import { createCarrier, deleteCarrier, listCarriers, renameCarrier } from './carrier.js';

type Managed = Promise<ReplyOf<'manageCarriers'>>;

export function carrierHandlers() {
  return {
    async listCarriers({ ctx, query }) {
      const { rows, total } = await listCarriers(ctx, query);
      return pageReply(query, total, 'carrier', rows.map(viewCarrier));
    },

    async manageCarriers({ ctx, body }) {
      return byAction(body, {
        create: async ({ name }): Managed => {
          const carrier = await createCarrier(ctx, name);
          return { statusCode: 200, message: 'Carrier created.', data: viewCarrier(carrier) };
        },
        rename: async ({ carrier_id: id, name }): Managed => {
          const { carrier, isChanged } = await renameCarrier(ctx, { id, name });
          const message = isChanged
            ? 'Carrier renamed.'
            : 'The carrier already has this name. Nothing was changed.';
          return { statusCode: 200, message, data: viewCarrier(carrier) };
        },
        delete: async ({ carrier_id: id }): Managed => {
          const carrier = await deleteCarrier(ctx, id);
          return { statusCode: 200, message: 'Carrier deleted.', data: viewCarrier(carrier) };
        },
      });
    },
  } satisfies Partial<Handlers>;
}

const viewCarrier = ({ id, name }: { id: string; name: string }): DataOf<'manageCarriers'> => ({
  carrier_id: id,
  name,
});
