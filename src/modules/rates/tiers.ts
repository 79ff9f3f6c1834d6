import type { UserCaller } from '../../platform/identity/callers.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';

/**
 * Returns a query of the tiers that apply to a courier: its own, or the tenant's default tiers if it has
 * none. Columns: id, start_lb, end_lb, fee_usd.
 */
export function tiersOfCourier(db: Db, caller: UserCaller, courierId: string): Sql {
  return tiersOfEachCourier(db, caller, sql`${courierId}::uuid`);
}

/** The same for a courier given by a column. */
export function tiersOfEachCourier(db: Db, caller: UserCaller, courierId: Sql): Sql {
  return sql`select t.id, t.start_weight_lb as start_lb, t.end_weight_lb as end_lb, t.fee_usd
    from rate_tiers t
    where ${tenantRows(db, caller, 't')} and t.courier_id is not distinct from (
      select own.courier_id from rate_tiers own
      where ${tenantRows(db, caller, 'own')} and own.courier_id = ${courierId} limit 1)`;
}

/** Returns a query of a courier's own tiers, or of the default ones (null), with the same columns. */
export function tiersOfTable(db: Db, caller: UserCaller, courierId: string | null): Sql {
  return sql`select t.id, t.start_weight_lb as start_lb, t.end_weight_lb as end_lb, t.fee_usd
    from rate_tiers t
    where ${tenantRows(db, caller, 't')} and t.courier_id is not distinct from ${courierId}::uuid`;
}

/**
 * Returns a query of the tiers in order. `place` counts them from 1, and `covered_lb` is the end of the lower
 * ones. Both bounds belong to a tier; a shared bound belongs to the lower tier.
 */
export function bandsOf(tiers: Sql): Sql {
  return sql`select id, start_lb, end_lb, fee_usd, row_number() over bands::int as place,
      coalesce(max(end_lb) over (bands rows between unbounded preceding and 1 preceding), 0) as covered_lb
    from (${tiers}) as t
    window bands as (order by start_lb, end_lb, id)`;
}

/**
 * Returns the weights at which bands and gaps begin, alternately, as an array in thousandths of a pound. The
 * number of cuts that a weight has reached (bandOf) is its position: an odd number 2n - 1 is the band with
 * place n, an even number is a gap.
 */
export function cutsOf(bands: Sql): Sql {
  return sql`select coalesce(array_agg(cut order by cut), '{}') as cuts
    from ${bands} b
    cross join lateral (values ((greatest(start_lb, covered_lb + 0.001) * 1000)::int),
      ((greatest(end_lb, covered_lb) * 1000)::int + 1)) as v (cut)`;
}

/** Uses integers, because searching them is many times faster than searching decimals, and equally exact. */
export function bandOf(weightLb: Sql, cuts: Sql): Sql {
  return sql`width_bucket((${weightLb} * 1000)::int, ${cuts})`;
}

/**
 * Returns a query of the weights that no band covers. above_lb is null if there is no tier, below_lb is null
 * above the last one, and `band` is the value of bandOf. A step of 0.001 lb between two tiers is no gap,
 * because weights have no more decimals.
 */
export function gapsBetween(bands: Sql): Sql {
  return sql`select covered_lb as above_lb, start_lb as below_lb, 2 * (place - 1) as band
    from ${bands} b where start_lb > covered_lb + 0.001
    union all
    select max(end_lb), null, 2 * count(*)::int from ${bands} b`;
}

export type Gap = { aboveLb: string | null; belowLb: string | null; packages: number };

/** Returns the warning about a gap. */
export function gapWarning({ aboveLb, belowLb, packages }: Gap): string {
  const gap =
    aboveLb === null ? 'There is no rate table' : `No tier covers weights ${span(aboveLb, belowLb)}`;
  if (packages === 0) return `${gap}.`;
  return `${gap}; ${packages === 1 ? '1 package has' : `${packages} packages have`} no fee.`;
}

function span(aboveLb: string, belowLb: string | null): string {
  if (belowLb === null) return `above ${aboveLb} lb`;
  return aboveLb === '0' ? `below ${belowLb} lb` : `between ${aboveLb} and ${belowLb} lb`;
}
