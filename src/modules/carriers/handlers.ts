import { pageReply } from '../../platform/contract/page-reply.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
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
        create: async ({ name }): Managed =>
          reply('Carrier created.', viewCarrier(await createCarrier(ctx, name))),
        rename: async ({ carrier_id: id, name }): Managed => {
          const { carrier, isChanged } = await renameCarrier(ctx, { id, name });
          const message = outcomeOf(isChanged, 'Carrier renamed.', 'The carrier already has this name.');
          return reply(message, viewCarrier(carrier));
        },
        delete: async ({ carrier_id: id }): Managed =>
          reply('Carrier deleted.', viewCarrier(await deleteCarrier(ctx, id))),
      });
    },
  } satisfies Partial<Handlers>;
}

const viewCarrier = ({ id, name }: { id: string; name: string }): DataOf<'manageCarriers'> => ({
  carrier_id: id,
  name,
});
