import type { UserCaller } from '../../platform/identity/callers.js';
import { tenantRows, type FilterScope } from '../../platform/db/filters.js';
import type { Courier, DecimalText, Warehouse } from '../../platform/db/models/types.js';
import { sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import { elementOfTier } from '../rates/public.js';
import { maskedTrackingNumber } from '../tracking-numbers/public.js';
import {
  airFreightUsd,
  courierTiers,
  gapsAsJson,
  groupPackages,
  MAX_PACKAGES,
  receivedInPeriod,
  sumGroups,
  weightBand,
  type GapsRow,
  type Period,
} from './public.js';
import { columns } from '../../platform/db/columns.js';
import { currencyOf } from '../tenant-settings/public.js';

const WAREHOUSE = columns('Warehouse', 'w', {
  issuerAddress: 'address',
  issuerCity: 'city',
  issuerCountry: 'country',
  issuerPhone: 'phone',
  issuerEmail: 'email',
});
const COURIER = columns('Courier', 'c', {
  courierId: 'id',
  courierName: 'name',
  courierCode: 'code',
  companyName: 'companyName',
  email: 'email',
  phoneNumber1: 'phoneNumber1',
  address1: 'address1',
  address2: 'address2',
  cityTown: 'cityTown',
  parishProvince: 'parishProvince',
});

/** A request context; the benchmark builds the same statements without a request. */
type Scope = FilterScope<UserCaller>;

type IssuerField = 'name' | 'address' | 'city' | 'country' | 'phone' | 'email';

/** The courier, and the fields of the issuer with `issuer` before their names. */
export type PartiesRow = {
  [Field in IssuerField as `issuer${Capitalize<Field>}`]: Warehouse[Field];
} & RowOf<typeof COURIER> & { currency: string };

/** The issuer is the primary warehouse, or the tenant if it has none. */
function findParties(ctx: Scope, courierId: string): Sql<PartiesRow> {
  return sql`select coalesce(w.name, o.name) as "issuerName", ${WAREHOUSE},
      ${COURIER}, ${currencyOf(ctx)} as currency
    from couriers c
    join tenants o on o.id = c.tenant_id
    left join warehouses w on ${tenantRows(ctx, 'w')} and w.tenant_id = c.tenant_id and w.is_primary
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
}

/** Amounts and weights are decimal text. */
export type FiguresRow = GapsRow &
  DecimalText<Pick<Courier, 'airFreightRate'>> & {
    totalPackages: number;
    totalWeight: string;
    totalFees: string;
    airFreightWeight: string;
    totalAirFreight: string;
    grandTotal: string;
    lines: { startLb: string; endLb: string; count: number; rate: string; subtotal: string }[];
  };

/**
 * `packages` contains 1,000 elements of the contract's list as JSON text. A single text of all elements would
 * block the event loop.
 */
export type BilledRow = { packages: string };

/**
 * The statements of a preview. Run them in one snapshot, so that the sums match the listed packages, and the tiers are
 * consistent under concurrent changes.
 */
export const previewStatements = (
  ctx: Scope,
  period: Period,
): [Sql<PartiesRow>, Sql<FiguresRow>, Sql<BilledRow>] => [
  findParties(ctx, period.courierId),
  computeFigures(ctx, period),
  listBilled(ctx, period),
];

/** Lists are JSON, because one statement returns only one set of rows. */
function computeFigures(ctx: Scope, period: Period): Sql<FiguresRow> {
  return sql`with ${courierTiers(ctx, period)},
    ${groupPackages(sql`packages p where ${receivedInPeriod(ctx, period)}`)},
    ${sumGroups(ctx)}
    select t.total_packages as "totalPackages", t.total_weight as "totalWeight", t.total_fees as "totalFees",
      c.air_freight_rate as "airFreightRate", t.air_freight_weight as "airFreightWeight",
      a.usd as "totalAirFreight", t.total_fees + a.usd as "grandTotal", ${linesAsJson}, ${gapsAsJson}
    from totals t
    join couriers c on ${tenantRows(ctx, 'c')} and c.id = ${period.courierId}::uuid
    cross join lateral (select ${airFreightUsd} as usd) as a`;
}

// Numbers are text, as in gapsAsJson.
const linesAsJson = sql`
  coalesce((select json_agg(json_build_object('startLb', trim_scale(start_lb)::text, 'endLb', trim_scale(end_lb)::text,
      'count', packages, 'rate', fee_usd::text, 'subtotal', (fee_usd * packages)::text) order by tier_number)
    from lines), '[]') as lines`;

/** The contract's list of packages as JSON text (see jsonText), in order of intake. None if there are more than MAX_PACKAGES. */
function listBilled(ctx: Scope, period: Period): Sql<BilledRow> {
  // The hidden part of a number is never read for a courier.
  const number =
    ctx.caller.courierId === null
      ? sql`p.tracking_number`
      : sql`case when p.is_customer_known then p.tracking_number else ${maskedTrackingNumber('p')} end`;
  // Rows are numbered while they are narrow, and converted to JSON afterwards.
  return sql`with ${courierTiers(ctx, period)},
    fee as (select array_agg(trim_scale(fee_usd)::text order by tier_number) as texts from tiers),
    billed as (
      select p.id, p.tracking_number, p.user_code is not null as is_customer_known,
        p.weight_lb, row_number() over (order by p.received_at, p.id) - 1 as n
      from packages p where ${receivedInPeriod(ctx, period)}
        -- evaluated once, before the packages are read
        and (select count(*) from (
          select from packages p where ${receivedInPeriod(ctx, period)} limit ${MAX_PACKAGES + 1}::int) as c) <= ${MAX_PACKAGES}::int)
    select string_agg('{"package_id":"' || p.id || '","tracking_number":' || to_json(${number})::text
        || ',"weight":' || trim_scale(p.weight_lb)::text || ',"applied_fee":'
        || coalesce(${elementOfTier(sql`(select texts from fee)`, sql`p.band`)}, '0') || '}',
        ',' order by p.n) as packages
    from (select *, ${weightBand(sql`weight_lb`)} as band from billed offset 0) as p
    group by p.n / 1000 order by p.n / 1000`;
}
