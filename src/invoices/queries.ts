import type { UserCaller } from '../auth/callers.js';
import { ownRows, tenantRows } from '../db/filters.js';
import { sql, type Db, type Sql } from '../db/transaction.js';
import { maskedTrackingNumber } from '../packages/masking.js';
import { bandOf, bandsOf, cutsOf, gapsBetween, tiersOfCourier } from '../rates/tiers.js';

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
export type FiguresRow = {
  total_packages: number;
  total_weight: string;
  total_fees: string;
  air_freight_rate: string;
  air_freight_weight: string;
  total_air_freight: string;
  grand_total: string;
  lines: { startLb: string; endLb: string; count: number; rate: string; subtotal: string }[];
  gaps: { aboveLb: string | null; belowLb: string | null; packages: number }[];
};

/** `packages` is 1,000 elements of the contract's list as JSON text: one text of all would hold the event loop. */
export type BilledRow = { packages: string };

/**
 * A preview, in three statements: who, the figures, the packages. Run them in one snapshot (readInScope), so that
 * the sums are those of the packages listed and the tiers are one whole table, whatever is changed meanwhile.
 */
export const previewStatements = (db: Db, caller: UserCaller, period: Period): Sql[] => [
  findParties(db, caller, period.courierId),
  computeFigures(db, caller, period),
  listBilled(db, caller, period),
];

/**
 * The packages are added up by band and manifest first: everything else is computed from these few rows. Lists
 * come as JSON, because one statement cannot answer three sets of rows.
 */
export function computeFigures(db: Db, caller: UserCaller, period: Period): Sql {
  return sql`with ${bandsAndCuts(db, caller, period)},
    heaps as materialized (
      select p.manifest_id, ${bandOf(sql`p.weight_lb`, sql`(select cuts from cut)`)} as band,
        count(*) as packages, sum((p.weight_lb * 1000)::int) / 1000.0 as weight_lb
      from packages p where ${received(db, caller, period)} group by 1, 2),
    lines as (
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
      left join manifests m on ${tenantRows(db, caller, 'm')} and m.id = h.manifest_id)
    select s.*, c.air_freight_rate, a.total_air_freight, s.total_fees + a.total_air_freight as grand_total,
      ${LISTS}
    from sums s
    join couriers c on ${tenantRows(db, caller, 'c')} and c.id = ${period.courierId}::uuid
    cross join lateral (select round(c.air_freight_rate * s.air_freight_weight, 2) as total_air_freight) as a`;
}

// numbers as text, so that no parser makes floats of them on the way
const LISTS = sql`
  coalesce((select json_agg(json_build_object('startLb', trim_scale(start_lb)::text, 'endLb', trim_scale(end_lb)::text,
      'count', packages, 'rate', fee_usd::text, 'subtotal', (fee_usd * packages)::text) order by place)
    from lines), '[]') as lines,
  coalesce((select json_agg(json_build_object('aboveLb', trim_scale(above_lb)::text, 'belowLb',
      trim_scale(below_lb)::text, 'packages', packages) order by above_lb, below_lb)
    from gaps where below_lb is not null or packages > 0 or above_lb is null), '[]') as gaps`;

/** The contract's list of packages, spelt as JSON here: see jsonText. In the order of intake. */
export function listBilled(db: Db, caller: UserCaller, period: Period): Sql {
  // what a courier may not see is not even read out for it
  const number =
    caller.courierId === null
      ? sql`p.tracking_number`
      : sql`case when p.is_customer_known then p.tracking_number else ${maskedTrackingNumber('p')} end`;
  // numbered while the rows are narrow, spelt after that
  return sql`with ${bandsAndCuts(db, caller, period)},
    fee as (select array_agg(trim_scale(fee_usd)::text order by place) as texts from bands),
    billed as (
      select p.id, p.tracking_number, p.user_code is not null as is_customer_known,
        p.weight_lb, row_number() over (order by p.received_at, p.id) - 1 as n
      from packages p where ${received(db, caller, period)})
    select string_agg('{"package_id":"' || p.id || '","tracking_number":' || to_json(${number})::text
        || ',"weight":' || trim_scale(p.weight_lb)::text || ',"applied_fee":'
        || case when p.band % 2 = 1 then (select texts from fee)[(p.band + 1) / 2] else '0' end || '}',
        ',' order by p.n) as packages
    from (select *, ${bandOf(sql`weight_lb`, sql`(select cuts from cut)`)} as band from billed offset 0) as p
    group by p.n / 1000 order by p.n / 1000`;
}

const bandsAndCuts = (db: Db, caller: UserCaller, { courierId }: Period): Sql =>
  sql`bands as materialized (${bandsOf(tiersOfCourier(db, caller, courierId))}),
    cut as materialized (${cutsOf(sql`bands`)})`;

/** The courier's packages received in the period, both days whole and in UTC. */
function received(db: Db, caller: UserCaller, { courierId, startDate, endDate }: Period): Sql {
  return sql`${ownRows(db, caller, 'p')} and p.courier_id = ${courierId}::uuid
    and p.received_at >= ${startDate}::date::timestamp at time zone 'UTC'
    and p.received_at < (${endDate}::date + 1)::timestamp at time zone 'UTC'`;
}
