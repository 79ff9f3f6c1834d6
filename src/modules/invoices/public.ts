// The public interface of this module. test/contract/architecture.test.ts rejects any other import.
import type { UserCaller } from '../../platform/identity/callers.js';
import { fromDay, ownRows, tenantRows, untilDay, type FilterScope } from '../../platform/db/filters.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import {
  applicableTiers,
  bandBounds,
  bandOf,
  gapsBetween,
  numberedTiers,
  type Gap,
} from '../rates/public.js';

// Parts of statements, shared by the preview and the bill of a period, so that the two never differ by a cent. A with-list
// has them in this order: courierTiers, a query of packages, groupPackages, sumGroups.

/** A request context; the benchmark builds the same statements without a request. */
type Scope = FilterScope<UserCaller>;

/** The most packages of a bill, and of a preview. */
export const MAX_PACKAGES = 100_000;

/** Both days are included, in UTC. */
export type Period = { courierId: string; startDate: string; endDate: string };

/** The condition on `packages p` for the courier's packages received in the period. */
export function receivedInPeriod(ctx: Scope, { courierId, startDate, endDate }: Period): Sql {
  return sql`${ownRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid
    and ${fromDay(sql`p.received_at`, startDate)} and ${untilDay(sql`p.received_at`, endDate)}`;
}

/** `tiers`: the numbered tiers that apply to the courier. `bands`: the bounds of their weight bands. */
export const courierTiers = (ctx: Scope, { courierId }: Period): Sql =>
  numberedBands(applicableTiers(ctx, courierId), { tiers: sql`tiers`, bands: sql`bands` });

/** Two parts of a with-list: the numbered tiers, and the bounds of their weight bands. */
export const numberedBands = (of: Sql, { tiers, bands }: { tiers: Sql; bands: Sql }): Sql =>
  sql`${tiers} as materialized (${numberedTiers(of)}), ${bands} as materialized (${bandBounds(tiers)})`;

/** The number of the weight's band in `bands`. */
export const weightBand = (weightLb: Sql): Sql => bandOf(weightLb, sql`(select bounds from bands)`);

/**
 * `groups`: packages by weight band and manifest. Everything else is computed from these few rows.
 *
 * @param packages what follows `from`; its `p` has manifest_id and weight_lb
 */
export const groupPackages = (packages: Sql): Sql => sql`groups as materialized (
  select p.manifest_id, ${weightBand(sql`p.weight_lb`)} as band,
    count(*) as packages, sum((p.weight_lb * 1000)::int) / 1000.0 as weight_lb
  from ${packages} group by 1, 2)`;

/** `lines`: one row per tier with packages. `gaps`: the weights without a tier. `totals`: one row. */
export const sumGroups = (ctx: Scope): Sql => sql`lines as (
    select t.start_lb, t.end_lb, t.tier_number, t.fee_usd, sum(g.packages)::int as packages
    from groups g join tiers t on g.band = 2 * t.tier_number - 1
    group by t.start_lb, t.end_lb, t.tier_number, t.fee_usd),
  gaps as (
    select between_tiers.above_lb, between_tiers.below_lb, coalesce(sum(g.packages), 0)::int as packages
    from (${gapsBetween(sql`tiers`)}) as between_tiers left join groups g on g.band = between_tiers.band
    group by between_tiers.above_lb, between_tiers.below_lb),
  totals as (
    select coalesce(sum(g.packages), 0)::int as total_packages, coalesce(sum(g.weight_lb), 0) as total_weight,
      coalesce((select sum(fee_usd * packages) from lines), 0) as total_fees,
      coalesce(sum(g.weight_lb) filter (where m.awb_number <> ''), 0) as air_freight_weight
    from groups g
    left join manifests m on ${tenantRows(ctx, 'm')} and m.id = g.manifest_id)`;

/** The USD for the weight shipped by air, from a row `c` of couriers and a row `t` of totals. */
export const airFreightUsd = sql`round(c.air_freight_rate * t.air_freight_weight, 2)`;

/** The label of a row of `lines` or `tiers`. */
export const tierLabel = sql`trim_scale(start_lb) || '-' || trim_scale(end_lb) || ' lb'`;

/** Selected by gapsAsJson. */
export type GapsRow = { gaps: Gap[] };

/** The column `gaps`. Numbers are text, so that no JSON parser converts them to floats. */
export const gapsAsJson = sql`coalesce((select json_agg(json_build_object('aboveLb', trim_scale(above_lb)::text, 'belowLb',
      trim_scale(below_lb)::text, 'packages', packages) order by above_lb, below_lb)
    from gaps where below_lb is not null or packages > 0 or above_lb is null), '[]') as gaps`;
