import type { UserCaller } from '../auth/callers.js';
import { tenantRows } from '../db/filters.js';
import { sql, type Db, type Sql } from '../db/transaction.js';

/**
 * The tiers that a courier is billed by, as a query: its own, or the tenant's default ones when it has none.
 * Columns: id, start_lb, end_lb, fee_usd.
 */
export function tiersOfCourier(db: Db, caller: UserCaller, courierId: string): Sql {
  return sql`select t.id, t.start_weight_lb as start_lb, t.end_weight_lb as end_lb, t.fee_usd
    from rate_tiers t
    where ${tenantRows(db, caller, 't')} and t.courier_id is not distinct from (
      select own.courier_id from rate_tiers own
      where ${tenantRows(db, caller, 'own')} and own.courier_id = ${courierId}::uuid limit 1)`;
}

/** A courier's own tiers, or the default ones (null), as a query of the same columns. */
export function tiersOfTable(db: Db, caller: UserCaller, courierId: string | null): Sql {
  return sql`select t.id, t.start_weight_lb as start_lb, t.end_weight_lb as end_lb, t.fee_usd
    from rate_tiers t
    where ${tenantRows(db, caller, 't')} and t.courier_id is not distinct from ${courierId}::uuid`;
}

/**
 * The tier of a weight, to be joined laterally. Both bounds belong to a tier, so two tiers may share one: the
 * lower tier wins.
 */
export function tierOfWeight(tiers: Sql, weightLb: Sql): Sql {
  return sql`select t.id, t.fee_usd from ${tiers} t
    where t.start_lb <= ${weightLb} and ${weightLb} <= t.end_lb
    order by t.start_lb, t.end_lb, t.id
    limit 1`;
}

/**
 * The weights that no tier covers, as a query: above_lb is null where there is no tier at all, below_lb is null
 * above the last one. A step of 0.001 lb between two tiers is none, because no weight is finer.
 */
export function gapsBetween(tiers: Sql): Sql {
  return sql`select above_lb, below_lb
    from (
      select coalesce(max(end_lb) over (order by start_lb, end_lb, id
        rows between unbounded preceding and 1 preceding), 0) as above_lb, start_lb as below_lb
      from ${tiers} t
    ) as steps
    where below_lb > above_lb + 0.001
    union all
    select max(end_lb), null from ${tiers} t`;
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
