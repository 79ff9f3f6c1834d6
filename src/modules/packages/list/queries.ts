import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { isCommonPage, limitTo, orderBy, type PageQuery } from '../../../platform/db/pages.js';
import { empty, onceIf, sql, type RowOf, type OrNull, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { PackageStatus } from '../events/transitions.js';
import {
  hasCappedFilters,
  hasFilters,
  hasNarrowFilter,
  matching,
  type PackageFilters,
  type PackageQuery,
} from './filters.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', [
  'id',
  'trackingNumber',
  'houseNumber',
  'userCode',
  'firstName',
  'lastName',
  'weightLb',
  'shipper',
  'status',
]);
const COURIER = columns('Courier', 'c', { courierName: 'name' });
const CARRIER = columns('Carrier', 'r', { carrierName: 'name' });
const MANIFEST = columns('Manifest', 'm', ['manifestNumber']);
const DETAILS = columns('Package', 'p', ['description', 'receivedAt']);
const PREALERT = columns('Prealert', 'a', { prealertId: 'id', reference: 'reference' });
const COURIER_CODE = columns('Courier', 'c', { courierCode: 'code' });

export type PackageRow = RowOf<typeof PACKAGE> &
  RowOf<typeof DETAILS> &
  OrNull<RowOf<typeof COURIER> & RowOf<typeof CARRIER> & RowOf<typeof MANIFEST> & RowOf<typeof PREALERT>> & {
    status: PackageStatus;
  };

/** A package in an exported file: without the description, with its courier's code. */
export type ExportRow = Omit<PackageRow, 'description' | 'receivedAt' | 'prealertId' | 'reference'> & {
  courierCode: string | null;
  /** YYYY-MM-DD HH:MM:SS in UTC. */
  entryDateTime: string;
};

const STORED = sql`p.id, p.tracking_number, p.house_number, p.user_code, p.first_name, p.last_name, p.weight_lb,
  p.shipper, p.received_at, p.status`;
const SHOWN = sql`${PACKAGE},
  ${COURIER}, ${CARRIER}, ${MANIFEST}`;
const LISTED = sql`${SHOWN}, ${DETAILS}, ${PREALERT}`;
// The time is selected as text, because converting 10,000 dates in JavaScript took a fifth of an export.
const EXPORTED = sql`${SHOWN}, ${COURIER_CODE},
  to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "entryDateTime"`;

export type PackageOrder = Pick<PackageQuery, 'sort_by' | 'sort_dir'>;

const NEWEST_FIRST: PackageOrder = { sort_by: 'entry_date_time', sort_dir: 'DESC' };

export const isNewestFirst = ({ sort_by: field, sort_dir: direction }: PackageOrder): boolean =>
  field === NEWEST_FIRST.sort_by && direction === NEWEST_FIRST.sort_dir;

// Each order has an index, and none repeats or skips a row between pages.
const SORTS = {
  entry_date_time: ['received_at', 'id'],
  weight: ['weight_lb', 'id'],
  house_number: ['house_number'],
  user_code: ['user_code', 'received_at', 'id'],
} satisfies Record<PackageOrder['sort_by'], string[]>;

/** Selects one page, newest first if `page` has no order. */
export function listPackages(
  ctx: UserScope,
  filters: PackageFilters,
  page: PageQuery & Partial<PackageOrder>,
): Sql<PackageRow> {
  const announced = sql`left join prealerts a on ${ownRows(ctx, 'a')} and a.tenant_id = p.tenant_id and a.id = p.prealert_id
      and a.courier_id = p.courier_id`;
  return pageOfPackages(ctx, filters, page, {
    stored: sql`${STORED}, p.description, p.prealert_id`,
    shown: LISTED,
    joined: announced,
  });
}

/** The same for an export. */
export function exportPackages(
  ctx: UserScope,
  filters: PackageFilters,
  page: PageQuery & Partial<PackageOrder>,
): Sql<ExportRow> {
  return pageOfPackages(ctx, filters, page, { stored: STORED, shown: EXPORTED, joined: empty });
}

/** Names are joined after the page is cut, so they are looked up only for its rows. */
function pageOfPackages<Row>(
  ctx: UserScope,
  filters: PackageFilters,
  page: PageQuery & Partial<PackageOrder>,
  { stored, shown, joined }: { stored: Sql; shown: Sql; joined: Sql },
): Sql<Row> {
  const { sort_by: field, sort_dir: direction } = { ...NEWEST_FIRST, ...page };
  const order = orderBy('p', SORTS[field], direction);
  const isFixed =
    isCommonPage(page) && !hasFilters(filters) && isNewestFirst({ sort_by: field, sort_dir: direction });
  return onceIf(isFixed)`with page as materialized (
      select p.tenant_id, p.courier_id, p.carrier_id, p.manifest_id, ${stored}
      from ${matchingPackages(ctx, filters)}
      ${order}
      ${limitTo(page)})
    select ${shown}
    from page p
    left join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = p.tenant_id and c.id = p.courier_id
    left join carriers r on ${tenantRows(ctx, 'r')} and r.tenant_id = p.tenant_id and r.id = p.carrier_id
    left join manifests m on ${tenantRows(ctx, 'm')} and m.tenant_id = p.tenant_id and m.id = p.manifest_id
    ${joined}
    ${order}`;
}

/** With `offset 0`, PostgreSQL finds the packages by the filter, and sorts them after. */
const matchingPackages = (ctx: UserScope, filters: PackageFilters): Sql =>
  hasNarrowFilter(filters)
    ? sql`(select p.* from packages p where ${matching(ctx, filters)} offset 0) p`
    : sql`packages p where ${matching(ctx, filters)}`;

export type TotalsRow = { totalCount: number; totalWeight: string };

/** The most packages that are counted with a filter of the office, and the last one that its pages reach. */
export const MAX_COUNTED = 10_000;

/**
 * Selects the totals of all pages. Without filters other than the courier, it sums the maintained counters. With a filter of the
 * office, it counts at most one more than MAX_COUNTED.
 */
export function totalPackages(ctx: UserScope, filters: PackageFilters): Sql<TotalsRow> {
  const { courierID, ...others } = filters;
  if (hasCappedFilters(filters)) {
    return sql`select count(*)::int as "totalCount", coalesce(sum(p.weight_lb), 0) as "totalWeight"
      from (select p.weight_lb from ${matchingPackages(ctx, filters)}
        order by p.received_at desc limit ${MAX_COUNTED + 1}::int) p`;
  }
  if (hasFilters(others)) {
    return sql`select count(*)::int as "totalCount", coalesce(sum(p.weight_lb), 0) as "totalWeight"
      from packages p where ${matching(ctx, filters)}`;
  }
  const courier =
    ctx.caller.courierId === null && courierID ? sql` and t.courier_id = ${courierID}::uuid` : empty;
  return onceIf(
    !courierID,
  )`select coalesce(sum(t.total), 0)::int as "totalCount", coalesce(sum(t.weight_lb), 0) as "totalWeight"
    from package_tallies t where ${ownRows(ctx, 't')}${courier}`;
}
