import type { QueryOf } from '../../../platform/contract/types.js';
import { allOf, containsPattern, ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { CustomerTally } from '../../../platform/db/models/types.js';
import { isCommonPage, limitTo } from '../../../platform/db/pages.js';
import { join, once, onceIf, raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { withCourierName, type CustomerRow } from './queries.js';

export type Query = Omit<QueryOf<'listCustomers'>, 'action'>;

// Every sort ends with the id, so that pages neither repeat nor skip a row. Within a courier, each order has
// an index.
const SORTS = {
  user_code: ['user_code', 'id'],
  first_name: ['first_name', 'last_name', 'id'],
  last_name: ['last_name', 'first_name', 'id'],
  branch: ['branch', 'first_name', 'last_name', 'id'],
  courier_name: ['first_name', 'last_name', 'id'],
  created_at: ['created_at', 'id'],
  updated_at: ['updated_at', 'id'],
} satisfies Record<Query['sort_by'], string[]>;

/**
 * Selects the keys of the page first, with index-only scans where possible. Only the page's rows are read.
 */
export function pageOfCustomers(ctx: UserScope, query: Query): Sql<CustomerRow> {
  const isOfOneCourier = (ctx.caller.courierId ?? query.courier_id) !== undefined;
  const columns = orderOf('cu', SORTS[query.sort_by], query);
  const isByCourier = query.sort_by === 'courier_name' && !isOfOneCourier;
  const order = isByCourier ? join([orderOf('c', ['name', 'id'], query), columns]) : columns;
  const isMerged = !isOfOneCourier && !hasTrigram(query.search);
  const keys = isMerged ? keysOfEachCourier(ctx, query) : keysOfAll(ctx, query);
  const page = withCourierName(sql`${keys} order by ${order} ${limitTo(query)}`, sql`order by ${order}`);
  return onceIf(isCommonPage(query) && !hasFilters(query))`${page}`;
}

function keysOfAll(ctx: UserScope, query: Query): Sql {
  return sql`select cu.tenant_id, cu.id from customers cu
    join couriers c on c.tenant_id = cu.tenant_id and c.id = cu.courier_id
    where ${filtersOf(ctx, query)}`;
}

/**
 * Selects at most as many keys of each courier as the page can need, so that no index over all couriers is
 * necessary.
 */
function keysOfEachCourier(ctx: UserScope, query: Query): Sql {
  const columns = SORTS[query.sort_by];
  return sql`select cu.tenant_id, cu.id from couriers c cross join lateral (
      select cu.tenant_id, ${raw(columns.map((column) => `cu.${column}`).join(', '))} from customers cu
      where ${filtersOf(ctx, query)} and cu.tenant_id = c.tenant_id and cu.courier_id = c.id
      order by ${orderOf('cu', columns, query)} ${limitTo({ page: 1, limit: query.page * query.limit })}
    ) cu
    where ${tenantRows(ctx, 'c')}`;
}

const orderOf = (table: 'c' | 'cu', columns: string[], { sort_dir: direction }: Query): Sql =>
  join(columns.map((column) => raw(`${table}.${column} ${direction}`)));

/**
 * Selects the number of matching customers. Without a search, it sums the maintained counters, in which ''
 * stands for all branches.
 */
export function totalOfCustomers(ctx: UserScope, query: Query): Sql<{ total: number }> {
  if (query.search)
    return sql`select count(*)::int as total from customers cu where ${filtersOf(ctx, query)}`;
  return onceIf(!hasFilters(query))`select coalesce(sum(cu.total), 0)::int as total from customer_tallies cu
    where ${scopeOf(ctx, query.courier_id)} and cu.branch = ${branchOf(query) ?? ''}`;
}

/** Selects the names of the branches that have customers, from the maintained counters. */
export function branchNames(
  ctx: UserScope,
  courierId: string | undefined,
): Sql<Pick<CustomerTally, 'branch'>> {
  return once`select cu.branch from customer_tallies cu
    where ${scopeOf(ctx, courierId)} and cu.branch <> ''
    group by cu.branch having sum(cu.total) > 0 order by cu.branch`;
}

const hasFilters = (query: Query): boolean => Boolean(query.search ?? query.courier_id ?? branchOf(query));

function filtersOf(ctx: UserScope, query: Query): Sql {
  const branch = branchOf(query);
  return allOf(
    scopeOf(ctx, query.courier_id),
    branch !== undefined && sql`cu.branch = ${branch}`,
    query.search && matching(query),
  );
}

/**
 * Whether a trigram index is worth trying: the text contains three consecutive letters or digits. The locale of the database has the
 * last word: where it knows no such letters, the planner does not use the index (decision 0077).
 */
const hasTrigram = (search: string | undefined) => search !== undefined && /[\p{L}\p{N}]{3}/u.test(search);

/**
 * A text without a trigram is matched against the rows in the order of the page: with a million customers, scanning the whole index
 * and then the rows took twenty times as long.
 */
function matching({ search = '', courier_id: courierId }: Query): Sql {
  const pattern = containsPattern(search);
  return hasTrigram(search)
    ? sql`cu.id = any (array(select customers_containing(${pattern}, ${courierId ?? null}::uuid)))`
    : sql`(cu.user_code ilike ${pattern} or (cu.first_name || ' ' || cu.last_name) ilike ${pattern})`;
}

/** A courier only ever sees its own customers, whatever courier_id says. */
const scopeOf = (ctx: UserScope, courierId: string | undefined): Sql =>
  allOf(
    ownRows(ctx, 'cu'),
    ctx.caller.courierId === null && courierId && sql`cu.courier_id = ${courierId}::uuid`,
  );

const branchOf = ({ branch }: Query) => (branch?.trim() ? branch : undefined);
