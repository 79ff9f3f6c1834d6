import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type BodyOf, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { updateAirFreight } from './air-freight.js';
import type { Change } from './context.js';
import { copyDefaultRates, deleteRate, readRates, saveRates, type SavedTable } from './rate-table.js';
import { viewAirFreight, viewSaved, viewTables } from './view.js';

export function rateHandlers({ db }: Deps) {
  return {
    async getCourierRates({ query, caller }) {
      const tables = await readRates(db, caller, query.courier_id);
      const isOne = query.courier_id !== undefined;
      const [first] = tables.couriers;
      const { length } = tables.couriers;
      const whose = isOne && first ? first.name : length === 1 ? '1 courier' : `${length} couriers`;
      return { statusCode: 200, message: `Rates of ${whose}.`, data: viewTables(tables, isOne) };
    },
    manageCourierRates: ({ body, caller, requestId }) => manage({ db, caller, requestId }, body),
  } satisfies Pick<Handlers, 'getCourierRates' | 'manageCourierRates'>;
}

function manage(change: Change, body: BodyOf<'manageCourierRates'>): Promise<ReplyOf<'manageCourierRates'>> {
  return byAction<typeof body, Promise<ReplyOf<'manageCourierRates'>>>(body, {
    save_rates: async (wanted) => answerTable('Rates saved.', await saveRates(change, wanted)),
    copy_default: async (wanted) =>
      answerTable('Default rates copied.', await copyDefaultRates(change, wanted)),
    delete_rate: async (wanted) => answerTable('Rate deleted.', await deleteRate(change, wanted)),
    update_air_freight: async ({ courier_id, air_freight_rate }) => {
      const updated = await updateAirFreight(change, courier_id, air_freight_rate);
      const message = updated.isChanged ? 'Air freight rate updated.' : UNCHANGED;
      return { statusCode: 200, message, data: viewAirFreight(updated) };
    },
  });
}

const UNCHANGED = 'The rates already have these values. Nothing was changed.';

function answerTable(done: string, saved: SavedTable) {
  const isOnDefaults = saved.courierId !== null && saved.tiers.length === 0;
  const consequence = isOnDefaults ? ' The courier is billed by the default rates now.' : '';
  const message = saved.isChanged ? done + consequence : UNCHANGED;
  return { statusCode: 200 as const, message, data: viewSaved(saved) };
}
