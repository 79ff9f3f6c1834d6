import type { UserCaller } from '../../platform/identity/callers.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';
import { maskedTrackingNumber } from '../tracking-numbers/public.js';
import {
  airFreightUsd,
  bandIn,
  bandsAndCuts,
  GAPS,
  groupPackages,
  received,
  sumGroups,
  type Gaps,
  type Period,
} from './period.js';

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

/** Selects the issuer and the courier. The issuer is the primary warehouse, or the tenant if it has none. */
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
export type FiguresRow = Gaps & {
  total_packages: number;
  total_weight: string;
  total_fees: string;
  air_freight_rate: string;
  air_freight_weight: string;
  total_air_freight: string;
  grand_total: string;
  lines: { startLb: string; endLb: string; count: number; rate: string; subtotal: string }[];
};

/**
 * `packages` contains 1,000 elements of the contract's list as JSON text. A single text of all elements would
 * block the event loop.
 */
export type BilledRow = { packages: string };

/**
 * Returns the three statements of a preview: parties, figures, packages. Run them in one snapshot, so that
 * the sums match the listed packages and the tiers are consistent under concurrent changes.
 */
export const previewStatements = (db: Db, caller: UserCaller, period: Period): Sql[] => [
  findParties(db, caller, period.courierId),
  computeFigures(db, caller, period),
  listBilled(db, caller, period),
];

/** Lists are returned as JSON, because one statement returns only one set of rows. */
export function computeFigures(db: Db, caller: UserCaller, period: Period): Sql {
  return sql`with ${bandsAndCuts(db, caller, period)},
    ${groupPackages(sql`packages p where ${received(db, caller, period)}`)},
    ${sumGroups(db, caller)}
    select s.*, c.air_freight_rate, a.total_air_freight, s.total_fees + a.total_air_freight as grand_total,
      ${LINES}, ${GAPS}
    from sums s
    join couriers c on ${tenantRows(db, caller, 'c')} and c.id = ${period.courierId}::uuid
    cross join lateral (select ${airFreightUsd} as total_air_freight) as a`;
}

// Numbers are text, as in GAPS.
const LINES = sql`
  coalesce((select json_agg(json_build_object('startLb', trim_scale(start_lb)::text, 'endLb', trim_scale(end_lb)::text,
      'count', packages, 'rate', fee_usd::text, 'subtotal', (fee_usd * packages)::text) order by place)
    from lines), '[]') as lines`;

/** Selects the contract's list of packages as JSON text (see jsonText), in order of intake. */
export function listBilled(db: Db, caller: UserCaller, period: Period): Sql {
  // The hidden part of a number is never read for a courier.
  const number =
    caller.courierId === null
      ? sql`p.tracking_number`
      : sql`case when p.is_customer_known then p.tracking_number else ${maskedTrackingNumber('p')} end`;
  // Rows are numbered while they are narrow, and converted to JSON afterwards.
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
    from (select *, ${bandIn(sql`weight_lb`)} as band from billed offset 0) as p
    group by p.n / 1000 order by p.n / 1000`;
}
