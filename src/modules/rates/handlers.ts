import { outcomeOf, reply } from '../../platform/contract/reply.js';
import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import { copyDefaultRates, deleteRate, readRates, saveRates, updateAirFreight } from './rate-table.js';
import type { SavedTable } from './stored-table.js';
import { viewAirFreight, viewSaved, viewTables } from './view.js';
import { countOf } from '../../platform/values/count-of.js';

type Managed = Promise<ReplyOf<'manageCourierRates'>>;

export function rateHandlers() {
  return {
    async getCourierRates({ ctx, query }) {
      const tables = await readRates(ctx, query.courier_id);
      const isOne = query.courier_id !== undefined;
      const [first] = tables.couriers;
      const { length } = tables.couriers;
      const whose = isOne && first ? first.name : countOf(length, 'courier');
      return reply(`Rates of ${whose}.`, viewTables(tables, isOne));
    },

    async manageCourierRates({ ctx, body }) {
      return byAction(body, {
        save_rates: async (requested): Managed => replySaved('Rates saved.', await saveRates(ctx, requested)),
        copy_default: async (requested): Managed =>
          replySaved('Default rates copied.', await copyDefaultRates(ctx, requested)),
        delete_rate: async (requested): Managed =>
          replySaved('Rate deleted.', await deleteRate(ctx, requested)),
        update_air_freight: async ({ courier_id: id, air_freight_rate: rate }): Managed => {
          const updated = await updateAirFreight(ctx, id, rate);
          const message = outcomeOf(updated.isChanged, 'Air freight rate updated.', ALREADY);
          return reply(message, viewAirFreight(updated));
        },
      });
    },
  } satisfies Partial<Handlers>;
}

const ALREADY = 'The rates already have these values.';

function replySaved(done: string, saved: SavedTable) {
  const isOnDefaults = saved.courierId !== null && saved.tiers.length === 0;
  const consequence = isOnDefaults ? ' The courier is billed by the default rates now.' : '';
  return reply(outcomeOf(saved.isChanged, done + consequence, ALREADY), viewSaved(saved));
}
