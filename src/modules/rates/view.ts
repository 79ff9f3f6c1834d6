import type { DataOf } from '../../platform/contract/types.js';
import { groupBy } from '../../platform/values/group-by.js';
import type { RateTables, AirFreight } from './rate-table.js';
import type { SavedTable } from './stored-table.js';
import type { StoredTier } from './tier.js';

type Tables = DataOf<'getCourierRates'>;
type RateTier = Tables['global_default_rates'][number];
type Changed = DataOf<'manageCourierRates'>;

/** The owner of the default tiers. */
const DEFAULTS = 'defaults';

/** @param isOne whether the request names a courier; the response then contains one table instead of a list */
export function viewTables({ couriers, tiers }: RateTables, isOne: boolean): Tables {
  const tables = groupBy(tiers, ({ courierId }) => courierId ?? DEFAULTS);
  const tableOf = (owner: string): RateTier[] => (tables.get(owner) ?? []).map(viewTier);
  const views = couriers.map(({ id, name, code, airFreightRate }) => {
    const own = tableOf(id);
    return {
      courier_id: id,
      courier_name: name,
      courier_code: code,
      air_freight_rate: Number(airFreightRate),
      specific_rates: own,
      uses_global_rates: own.length === 0,
    };
  });
  const defaults = { global_default_rates: tableOf(DEFAULTS) };
  const [first] = views;
  return isOne && first ? { ...defaults, courier: first } : { ...defaults, couriers: views };
}

const viewTier = ({ id, startWeightLb, endWeightLb, feeUsd }: StoredTier): RateTier => ({
  id,
  startweight: Number(startWeightLb),
  endweight: Number(endWeightLb),
  fee: Number(feeUsd),
});

export function viewSaved({ courierId, tiers, warnings }: SavedTable): Changed {
  return {
    courier_id: courierId,
    rates: tiers.map(viewTier),
    ...(courierId === null ? {} : { uses_global_rates: tiers.length === 0 }),
    warnings,
  };
}

export const viewAirFreight = ({ courierId, rateUsd }: AirFreight): Changed => ({
  courier_id: courierId,
  air_freight_rate: Number(rateUsd),
});
