import type { QueryOf } from '../../platform/contract/types.js';
import { allOf, containsPattern, ownRows } from '../../platform/db/filters.js';
import type { Prealert } from '../../platform/db/models/types.js';
import { isCommonPage, limitTo, orderBy } from '../../platform/db/pages.js';
import { empty, once, onceIf, sql, type OrNull, type RowOf, type Sql } from '../../platform/db/statements.js';
import { presentCode } from '../../platform/db/user-codes.js';
import type { UserScope } from '../../platform/db/scope.js';
import { HEARD, joinHeard, type CarrierTracking } from '../carrier-tracking/public.js';
import type { PrealertStatus } from './queries.js';
import { columns } from '../../platform/db/columns.js';

const COURIER = columns('Courier', 'c', { courierName: 'name' });
const CUSTOMER = columns('Customer', 'cu', ['firstName', 'lastName']);

export type PrealertQuery = QueryOf<'listPrealerts'>;

/** Without names if no customer has the user code any more. */
export type PrealertRow = Pick<
  Prealert,
  'id' | 'courierId' | 'userCode' | 'trackingNumber' | 'vendor' | 'description' | 'reference' | 'createdAt'
> &
  RowOf<typeof COURIER> &
  OrNull<RowOf<typeof CUSTOMER>> & { status: PrealertStatus; carrierTracking: CarrierTracking };

export type PrealertStats = { total: number } & Record<PrealertStatus, number>;

export function onePrealert(ctx: UserScope, id: string): Sql<PrealertRow> {
  const selection = sql`select * from prealerts p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;
  return once`${withNames(selection, empty)}`;
}

// Every sort ends with the id, so that pages neither repeat nor skip a row. Each order has an index.
const SORTS = {
  created_at: ['created_at', 'id'],
  status: ['status', 'created_at', 'id'],
  tracking_number: ['tracking_number', 'id'],
  vendor: ['vendor', 'id'],
  user_code: ['user_code', 'id'],
} satisfies Record<NonNullable<PrealertQuery['sort_by']>, string[]>;

export function pageOfPrealerts(ctx: UserScope, query: PrealertQuery): Sql<PrealertRow> {
  const order = orderBy('p', SORTS[query.sort_by], query.sort_dir);
  const page = sql`select * from prealerts p where ${filtersOf(ctx, query)} ${order}
    ${limitTo(query)}`;
  return onceIf(isCommonPage(query) && !hasFilters(query))`${withNames(page, order)}`;
}

/** Names are joined after the page is cut, so they are looked up only for its rows. `offset 0` keeps the code from being looked up twice. */
export function withNames(selection: Sql, order: Sql): Sql<PrealertRow> {
  return sql`select p.id, p.courier_id as "courierId", ${COURIER}, present.code as "userCode",
      ${CUSTOMER}, p.tracking_number as "trackingNumber", p.vendor,
      p.description, p.reference, p.status, p.created_at as "createdAt", ${HEARD} as "carrierTracking"
    from (${selection}) p
    join couriers c on c.tenant_id = p.tenant_id and c.id = p.courier_id
    cross join lateral (select ${presentCode('p')} as code offset 0) present
    left join customers cu on cu.tenant_id = p.tenant_id and cu.courier_id = p.courier_id and cu.user_code = present.code
    ${joinHeard('p')}
    ${order}`;
}

/** Selects counts by status of all matching pre-alerts. Without a search, it sums the maintained counters. */
export function statsOfPrealerts(ctx: UserScope, query: PrealertQuery): Sql<PrealertStats> {
  const counts = query.search
    ? sql`select p.status, count(*) as n from prealerts p where ${filtersOf(ctx, query)} group by p.status`
    : sql`select p.status, sum(p.total) as n from prealert_tallies p where ${scopeOf(ctx, query)} group by p.status`;
  return onceIf(!hasFilters(query))`select coalesce(sum(n), 0)::int as total,
      coalesce(sum(n) filter (where status = 'pending'), 0)::int as pending,
      coalesce(sum(n) filter (where status = 'received'), 0)::int as received,
      coalesce(sum(n) filter (where status = 'flagged'), 0)::int as flagged
    from (${counts}) counts`;
}

const hasFilters = ({ search, courier_id, status }: PrealertQuery): boolean =>
  [search, courier_id, status].some(Boolean);

const filtersOf = (ctx: UserScope, query: PrealertQuery): Sql =>
  allOf(
    scopeOf(ctx, query),
    query.search &&
      sql`p.id = any (array(select prealerts_containing(${containsPattern(query.search)}, ${query.courier_id ?? null}::uuid)))`,
  );

/** A courier only ever sees its own pre-alerts, whatever courier_id says. */
const scopeOf = (ctx: UserScope, { courier_id: courierId, status }: PrealertQuery): Sql =>
  allOf(
    ownRows(ctx, 'p'),
    ctx.caller.courierId === null && courierId && sql`p.courier_id = ${courierId}::uuid`,
    status && sql`p.status = ${status}`,
  );
