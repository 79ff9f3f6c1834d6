import type { UserCaller } from '../../platform/identity/callers.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';

/**
 * The tiers that a courier is billed by, as a query: its own, or the tenant's default ones when it has none.
 * Columns: id, start_lb, end_lb, fee_usd.
 */
export function tiersOfCourier(db: Db, caller: UserCaller, courierId: string): Sql {
  return tiersOfEachCourier(db, caller, sql`${courierId}::uuid`);
}

/** The same of a courier that a column names. */
export function tiersOfEachCourier(db: Db, caller: UserCaller, courierId: Sql): Sql {
  return sql`select t.id, t.start_weight_lb as start_lb, t.end_weight_lb as end_lb, t.fee_usd
    from rate_tiers t
    where ${tenantRows(db, caller, 't')} and t.courier_id is not distinct from (
      select own.courier_id from rate_tiers own
      where ${tenantRows(db, caller, 'own')} and own.courier_id = ${courierId} limit 1)`;
}

/** A courier's own tiers, or the default ones (null), as a query of the same columns. */
export function tiersOfTable(db: Db, caller: UserCaller, courierId: string | null): Sql {
  return sql`select t.id, t.start_weight_lb as start_lb, t.end_weight_lb as end_lb, t.fee_usd
    from rate_tiers t
    where ${tenantRows(db, caller, 't')} and t.courier_id is not distinct from ${courierId}::uuid`;
}

/**
 * Tiers in order, as a query: `place` counts them from 1, and `covered_lb` is where the lower ones end. Both bounds
 * belong to a tier; where two share one, it is the lower tier's.
 */
export function bandsOf(tiers: Sql): Sql {
  return sql`select id, start_lb, end_lb, fee_usd, row_number() over bands::int as place,
      coalesce(max(end_lb) over (bands rows between unbounded preceding and 1 preceding), 0) as covered_lb
    from (${tiers}) as t
    window bands as (order by start_lb, end_lb, id)`;
}

/**
 * The weights at which bands begin and gaps begin, in turn, as an array in thousandths of a lb. How many of them a
 * weight has reached (bandOf) says where it is: an odd number 2n - 1 is the band in place n, an even one a gap.
 */
export function cutsOf(bands: Sql): Sql {
  return sql`select coalesce(array_agg(cut order by cut), '{}') as cuts
    from ${bands} b
    cross join lateral (values ((greatest(start_lb, covered_lb + 0.001) * 1000)::int),
      ((greatest(end_lb, covered_lb) * 1000)::int + 1)) as v (cut)`;
}

/** Whole numbers, because a search among them is many times faster than one among decimals, and as exact. */
export function bandOf(weightLb: Sql, cuts: Sql): Sql {
  return sql`width_bucket((${weightLb} * 1000)::int, ${cuts})`;
}

/**
 * The weights that no band covers, as a query: above_lb is null where there is no tier at all, below_lb is null
 * above the last one, and `band` is what bandOf says there. A step of 0.001 lb between two tiers is none, because
 * no weight is finer.
 */
export function gapsBetween(bands: Sql): Sql {
  return sql`select covered_lb as above_lb, start_lb as below_lb, 2 * (place - 1) as band
    from ${bands} b where start_lb > covered_lb + 0.001
    union all
    select max(end_lb), null, 2 * count(*)::int from ${bands} b`;
}

export type Gap = { aboveLb: string | null; belowLb: string | null; packages: number };

/** What a gap means to whoever bills. */
export function wordGap({ aboveLb, belowLb, packages }: Gap): string {
  const gap =
    aboveLb === null ? 'There is no rate table' : `No tier covers weights ${span(aboveLb, belowLb)}`;
  if (packages === 0) return `${gap}.`;
  return `${gap}; ${packages === 1 ? '1 package has' : `${packages} packages have`} no fee.`;
}

function span(aboveLb: string, belowLb: string | null): string {
  if (belowLb === null) return `above ${aboveLb} lb`;
  return aboveLb === '0' ? `below ${belowLb} lb` : `between ${aboveLb} and ${belowLb} lb`;
}
