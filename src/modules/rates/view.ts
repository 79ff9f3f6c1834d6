import type { DataOf } from '../../platform/contract/types.js';
import type { AirFreight } from './air-freight.js';
import type { RateTables } from './rate-table.js';
import type { SavedTable } from './stored-table.js';
import type { StoredTier } from './tier.js';

type Tables = DataOf<'getCourierRates'>;
type RateTier = Tables['global_default_rates'][number];
type Changed = DataOf<'manageCourierRates'>;

/** @param isOne whether the request names a courier; the response then contains one table instead of a list */
export function viewTables({ couriers, tiers }: RateTables, isOne: boolean): Tables {
  const tables = new Map<string | null, RateTier[]>();
  for (const tier of tiers) {
    const table = tables.get(tier.courierId) ?? [];
    table.push(viewTier(tier));
    tables.set(tier.courierId, table);
  }
  const views = couriers.map(({ id, name, code, airFreightRate }) => {
    const own = tables.get(id) ?? [];
    return {
      courier_id: id,
      courier_name: name,
      courier_code: code,
      air_freight_rate: Number(airFreightRate),
      specific_rates: own,
      uses_global_rates: own.length === 0,
    };
  });
  const defaults = { global_default_rates: tables.get(null) ?? [] };
  const [first] = views;
  return isOne && first ? { ...defaults, courier: first } : { ...defaults, couriers: views };
}

const viewTier = ({ id, startLb, endLb, feeUsd }: StoredTier): RateTier => ({
  id,
  startweight: Number(startLb),
  endweight: Number(endLb),
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
