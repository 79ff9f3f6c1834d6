import type { UserCaller } from '../../platform/identity/callers.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';
import { bandOf, bandsOf, cutsOf, gapsBetween, tiersOfCourier, type Gap } from '../rates/public.js';

// Shared by the preview and the bill of a period, so that the two never differ by a cent. The functions
// return parts of a with-list, in this order: bandsAndCuts, a query of packages, heapsOf it, sumsOfHeaps.

export type Period = { courierId: string; startDate: string; endDate: string };

/**
 * Returns the condition on `packages p` for the courier's packages received in the period. Both days are
 * included, in UTC.
 */
export function received(db: Db, caller: UserCaller, { courierId, startDate, endDate }: Period): Sql {
  return sql`${ownRows(db, caller, 'p')} and p.courier_id = ${courierId}::uuid
    and p.received_at >= ${startDate}::date::timestamp at time zone 'UTC'
    and p.received_at < (${endDate}::date + 1)::timestamp at time zone 'UTC'`;
}

/** `bands`: the tiers of the courier. `cut`: the weights at which they begin and end. */
export const bandsAndCuts = (db: Db, caller: UserCaller, { courierId }: Period): Sql =>
  sql`bands as materialized (${bandsOf(tiersOfCourier(db, caller, courierId))}),
    cut as materialized (${cutsOf(sql`bands`)})`;

/** Returns the band, or the gap, of a weight. */
export const bandIn = (weightLb: Sql): Sql => bandOf(weightLb, sql`(select cuts from cut)`);

/**
 * `heaps`: packages grouped by band and manifest. Everything else is computed from these few rows.
 * @param packages the expression after `from`; `p` has manifest_id and weight_lb
 */
export const groupPackages = (packages: Sql): Sql => sql`heaps as materialized (
  select p.manifest_id, ${bandIn(sql`p.weight_lb`)} as band,
    count(*) as packages, sum((p.weight_lb * 1000)::int) / 1000.0 as weight_lb
  from ${packages} group by 1, 2)`;

/** `lines`: one row per tier. `gaps`: the weights without a tier. `sums`: one row of totals. */
export const sumGroups = (db: Db, caller: UserCaller): Sql => sql`lines as (
    select t.start_lb, t.end_lb, t.place, t.fee_usd, sum(h.packages)::int as packages
    from heaps h join bands t on h.band = 2 * t.place - 1 group by t.start_lb, t.end_lb, t.place, t.fee_usd),
  gaps as (
    select g.above_lb, g.below_lb, coalesce(sum(h.packages), 0)::int as packages
    from (${gapsBetween(sql`bands`)}) as g left join heaps h on h.band = g.band
    group by g.above_lb, g.below_lb),
  sums as (
    select coalesce(sum(h.packages), 0)::int as total_packages, coalesce(sum(h.weight_lb), 0) as total_weight,
      coalesce((select sum(fee_usd * packages) from lines), 0) as total_fees,
      coalesce(sum(h.weight_lb) filter (where m.awb_number <> ''), 0) as air_freight_weight
    from heaps h
    left join manifests m on ${tenantRows(db, caller, 'm')} and m.id = h.manifest_id)`;

/** The USD for the weight shipped by air, from a row `c` of couriers and a row `s` of sums. */
export const airFreightUsd = sql`round(c.air_freight_rate * s.air_freight_weight, 2)`;

/** The label of a row of `lines` or `bands`. */
export const tierLabel = sql`trim_scale(start_lb) || '-' || trim_scale(end_lb) || ' lb'`;

export type Gaps = { gaps: Gap[] };

// Numbers are text, so that no JSON parser converts them to floats.
export const GAPS = sql`coalesce((select json_agg(json_build_object('aboveLb', trim_scale(above_lb)::text, 'belowLb',
      trim_scale(below_lb)::text, 'packages', packages) order by above_lb, below_lb)
    from gaps where below_lb is not null or packages > 0 or above_lb is null), '[]') as gaps`;
