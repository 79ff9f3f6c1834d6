import type { UserCaller } from '../auth/callers.js';
import { ownRows, tenantRows } from '../db/filters.js';
import { sql, type Db, type Sql } from '../db/transaction.js';
import { gapsBetween, tierOfWeight, tiersOfCourier } from '../rates/tiers.js';

export type Period = { courierId: string; startDate: string; endDate: string };

export type PartiesRow = {
  warehouse_name: string;
  warehouse_address: string | null;
  warehouse_city: string | null;
  warehouse_country: string | null;
  warehouse_phone: string | null;
  warehouse_email: string | null;
  courier_id: string;
  courier_name: string;
  courier_code: string;
  company_name: string | null;
  email: string | null;
  phone_number1: string | null;
  address1: string | null;
  address2: string | null;
  city_town: string | null;
  parish_province: string | null;
};

/** Who bills whom: the primary warehouse (a tenant that has none bills in its own name) and the courier. */
export function findParties(db: Db, caller: UserCaller, courierId: string): Sql {
  return sql`select coalesce(w.name, o.name) as warehouse_name, w.address as warehouse_address,
      w.city as warehouse_city, w.country as warehouse_country, w.phone as warehouse_phone, w.email as warehouse_email,
      c.id as courier_id, c.name as courier_name, c.code as courier_code, c.company_name, c.email, c.phone_number1,
      c.address1, c.address2, c.city_town, c.parish_province
    from couriers c
    join tenants o on o.id = c.tenant_id
    left join warehouses w on ${tenantRows(db, caller, 'w')} and w.tenant_id = c.tenant_id and w.is_primary
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`;
}

/** Amounts and weights are decimal text. */
export type PreviewRow = {
  total_packages: number;
  total_weight: string;
  total_fees: string;
  air_freight_rate: string;
  air_freight_weight: string;
  total_air_freight: string;
  grand_total: string;
  lines: { startLb: string; endLb: string; count: number; rate: string; subtotal: string }[];
  gaps: { aboveLb: string | null; belowLb: string | null; packages: number }[];
  /** Id, tracking number, whether the customer is known, weight, fee. */
  packages: [string, string, boolean, string, string][];
};

/**
 * Everything that is computed, in one statement: from one snapshot, so that the sums are those of the packages
 * listed whatever arrives meanwhile. Lists come as JSON, because one statement cannot answer three sets of rows.
 */
export function computePreview(db: Db, caller: UserCaller, period: Period): Sql {
  return sql`with tiers as materialized (${tiersOfCourier(db, caller, period.courierId)}),
    billed as materialized (${billedPackages(db, caller, period)}),
    lines as (
      select t.id, t.start_lb, t.end_lb, t.fee_usd, count(*)::int as packages
      from billed b join tiers t on t.id = b.tier_id group by t.id, t.start_lb, t.end_lb, t.fee_usd),
    gaps as (
      select g.above_lb, g.below_lb, count(b.id)::int as packages
      from (${gapsBetween(sql`tiers`)}) as g
      left join billed b on b.tier_id is null and b.weight_lb > coalesce(g.above_lb, 0)
        and (g.below_lb is null or b.weight_lb < g.below_lb)
      group by g.above_lb, g.below_lb),
    sums as (
      select count(*)::int as total_packages, coalesce(sum(weight_lb), 0) as total_weight,
        coalesce(sum(fee_usd), 0) as total_fees,
        coalesce(sum(weight_lb) filter (where is_air_freight), 0) as air_freight_weight
      from billed)
    select s.*, c.air_freight_rate, a.total_air_freight, s.total_fees + a.total_air_freight as grand_total,
      ${LISTS}
    from sums s
    join couriers c on ${tenantRows(db, caller, 'c')} and c.id = ${period.courierId}::uuid
    cross join lateral (select round(c.air_freight_rate * s.air_freight_weight, 2) as total_air_freight) as a`;
}

/** The packages received in the period, both days whole and in UTC, each with its tier's fee. */
function billedPackages(db: Db, caller: UserCaller, { courierId, startDate, endDate }: Period): Sql {
  return sql`select p.id, p.tracking_number, p.user_code is not null as is_customer_known, p.weight_lb, p.received_at,
      tier.id as tier_id, coalesce(tier.fee_usd, 0.00) as fee_usd, coalesce(m.awb_number <> '', false) as is_air_freight
    from packages p
    left join manifests m on ${tenantRows(db, caller, 'm')} and m.tenant_id = p.tenant_id and m.id = p.manifest_id
    left join lateral (${tierOfWeight(sql`tiers`, sql`p.weight_lb`)}) as tier on true
    where ${ownRows(db, caller, 'p')} and p.courier_id = ${courierId}::uuid
      and p.received_at >= ${startDate}::date::timestamp at time zone 'UTC'
      and p.received_at < (${endDate}::date + 1)::timestamp at time zone 'UTC'`;
}

// numbers as text, so that no parser makes floats of them on the way
const LISTS = sql`
  coalesce((select json_agg(json_build_object('startLb', trim_scale(start_lb)::text, 'endLb', trim_scale(end_lb)::text,
      'count', packages, 'rate', fee_usd::text, 'subtotal', (fee_usd * packages)::text) order by start_lb, end_lb, id)
    from lines), '[]') as lines,
  coalesce((select json_agg(json_build_object('aboveLb', trim_scale(above_lb)::text, 'belowLb',
      trim_scale(below_lb)::text, 'packages', packages) order by above_lb, below_lb)
    from gaps where below_lb is not null or packages > 0 or above_lb is null), '[]') as gaps,
  coalesce((select json_agg(json_build_array(id, tracking_number, is_customer_known, weight_lb::text, fee_usd::text)
      order by received_at, id) from billed), '[]') as packages`;
