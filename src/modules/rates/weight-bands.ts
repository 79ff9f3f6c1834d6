import type { UserCaller } from '../../platform/identity/callers.js';
import { tenantRows, type FilterScope } from '../../platform/db/filters.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import { countOf } from '../../platform/values/count-of.js';

// Parts of statements. A weight band is a range of weights: one tier, or the gap below a tier or above the last one.
// Bands are numbered by weight: tier n is band 2n - 1, the gap below it is band 2n - 2.

/** A request context; the benchmark builds the same statements without a request. */
type Scope = FilterScope<UserCaller>;

/** The tiers that apply to a courier: its own, or the tenant's default tiers if it has none. */
export function applicableTiers(ctx: Scope, courierId: string | Sql): Sql {
  return sql`select t.id, t.start_weight_lb as start_lb, t.end_weight_lb as end_lb, t.fee_usd
    from rate_tiers t
    where ${tenantRows(ctx, 't')} and t.courier_id is not distinct from (
      select own.courier_id from rate_tiers own
      where ${tenantRows(ctx, 'own')} and own.courier_id = ${courierId}::uuid limit 1)`;
}

/** The tenant's default tiers, with the same columns. */
export function defaultTiers(ctx: Scope): Sql {
  return sql`select t.id, t.start_weight_lb as start_lb, t.end_weight_lb as end_lb, t.fee_usd
    from rate_tiers t where ${tenantRows(ctx, 't')} and t.courier_id is null`;
}

/**
 * Numbers tiers by weight, from 1. `covered_lb` is the end of the lower tiers. Both bounds belong to a tier; a shared
 * bound belongs to the lower tier.
 */
export function numberedTiers(tiers: Sql): Sql {
  return sql`select id, start_lb, end_lb, fee_usd, row_number() over by_weight::int as tier_number,
      coalesce(max(end_lb) over (by_weight rows between unbounded preceding and 1 preceding), 0) as covered_lb
    from (${tiers}) as t
    window by_weight as (order by start_lb, end_lb, id)`;
}

/**
 * The weights at which the bands after band 0 begin, in thousandths of a pound, as an array `bounds`.
 *
 * @param tiers the name of the numbered tiers
 */
export function bandBounds(tiers: Sql): Sql {
  return sql`select coalesce(array_agg(bound order by bound), '{}') as bounds
    from ${tiers} t
    cross join lateral (values ((greatest(start_lb, covered_lb + 0.001) * 1000)::int),
      ((greatest(end_lb, covered_lb) * 1000)::int + 1)) as v (bound)`;
}

/** The number of a weight's band. Integers, because searching them is many times faster than decimals, and as exact. */
export function bandOf(weightLb: Sql, bounds: Sql): Sql {
  return sql`width_bucket((${weightLb} * 1000)::int, ${bounds})`;
}

/** The element that a band's tier has in an array ordered by tier number; null for a gap. */
export function elementOfTier(elements: Sql, band: Sql): Sql {
  return sql`case when ${band} % 2 = 1 then ${elements}[(${band} + 1) / 2] end`;
}

/**
 * The gaps between tiers and the one above the last tier. `above_lb` is null if there is no tier, `below_lb` is null above
 * the last one. A step of 0.001 lb between two tiers is no gap, because weights have no more decimals.
 *
 * @param tiers the name of the numbered tiers
 */
export function gapsBetween(tiers: Sql): Sql {
  return sql`select covered_lb as above_lb, start_lb as below_lb, 2 * (tier_number - 1) as band
    from ${tiers} t where start_lb > covered_lb + 0.001
    union all
    select max(end_lb), null, 2 * count(*)::int from ${tiers} t`;
}

/** Weights without a tier, as decimal text, and the number of packages in them. */
export type Gap = { aboveLb: string | null; belowLb: string | null; packages: number };

/** The warning about a gap. */
export function gapWarning({ aboveLb, belowLb, packages }: Gap): string {
  const gap =
    aboveLb === null ? 'There is no rate table' : `No tier covers weights ${span(aboveLb, belowLb)}`;
  if (packages === 0) return `${gap}.`;
  return `${gap}; ${countOf(packages, 'package has', 'packages have')} no fee.`;
}

function span(aboveLb: string, belowLb: string | null): string {
  if (belowLb === null) return `above ${aboveLb} lb`;
  return aboveLb === '0' ? `below ${belowLb} lb` : `between ${aboveLb} and ${belowLb} lb`;
}
