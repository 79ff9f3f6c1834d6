import type { UserCaller } from '../auth/callers.js';
import type { QueryOf } from '../contract/types.js';
import { ownRows, tenantRows } from '../db/filters.js';
import { containsPattern } from '../db/patterns.js';
import { join, raw, sql, type Db, type Sql } from '../db/transaction.js';
import { withCourierName } from './queries.js';

type Query = QueryOf<'listCustomers'>;

// The id ends every sort, so that pages neither repeat nor skip a row; each order has an index.
const SORTS = {
  user_code: ['user_code', 'id'],
  first_name: ['first_name', 'last_name', 'id'],
  last_name: ['last_name', 'first_name', 'id'],
  branch: ['branch', 'first_name', 'last_name', 'id'],
  // within one courier
  courier_name: ['first_name', 'last_name', 'id'],
  created_at: ['created_at', 'id'],
  updated_at: ['updated_at', 'id'],
} satisfies Record<Query['sort_by'], string[]>;

export function pageOfCustomers(db: Db, caller: UserCaller, query: Query): Sql {
  const inner = sql`order by ${orderOf('cu', SORTS[query.sort_by], query)}`;
  const cut = sql`limit ${query.limit}::int offset ${(query.page - 1) * query.limit}::bigint`;
  const selected = sql`select * from customers cu where ${filtersOf(db, caller, query)}`;
  const isAcrossCouriers = courierOf(caller, query) === null;
  if (query.sort_by !== 'courier_name' || !isAcrossCouriers)
    return withCourierName(sql`${selected} ${inner} ${cut}`, inner);
  const outer = sql`order by ${orderOf('c', ['name', 'id'], query)}, ${orderOf('cu', SORTS.courier_name, query)}`;
  if (query.search) return sql`${withCourierName(selected, outer)} ${cut}`;
  return courierByCourier(db, caller, query, { selected, inner, outer, cut });
}

/**
 * Couriers in the order of their names, and of each no more customers than the page could need: a few rows from
 * each courier's own index instead of a sort of all customers.
 */
function courierByCourier(
  db: Db,
  caller: UserCaller,
  query: Query,
  { selected, inner, outer, cut }: Record<'selected' | 'inner' | 'outer' | 'cut', Sql>,
): Sql {
  return sql`select cu.id, cu.courier_id, c.name as courier_name, cu.user_code, cu.first_name, cu.last_name, cu.branch,
      cu.is_active, cu.created_at, cu.updated_at
    from couriers c cross join lateral (
      ${selected} and cu.tenant_id = c.tenant_id and cu.courier_id = c.id
      ${inner} limit ${query.page * query.limit}::bigint
    ) cu
    where ${tenantRows(db, caller, 'c')}
    ${outer} ${cut}`;
}

const orderOf = (table: 'c' | 'cu', columns: string[], { sort_dir: direction }: Query): Sql =>
  join(columns.map((column) => raw(`${table}.${column} ${direction}`)));

/** All that the filters select; without a search the kept counters are summed, of which '' means all branches. */
export function totalOfCustomers(db: Db, caller: UserCaller, query: Query): Sql {
  if (query.search)
    return sql`select count(*)::int as total from customers cu where ${filtersOf(db, caller, query)}`;
  return sql`select coalesce(sum(cu.total), 0)::int as total from customer_tallies cu
    where ${scopeOf(db, caller, query.courier_id)} and cu.branch = ${branchOf(query) ?? ''}`;
}

/** Each name is looked up behind the one before it, so that the cost is of the names and not of the customers. */
export function branchNames(db: Db, caller: UserCaller, courierId: string | undefined): Sql {
  const scope = scopeOf(db, caller, courierId);
  return sql`with recursive names as (
      (select cu.branch from customers cu where ${scope} and cu.branch is not null order by cu.branch limit 1)
      union all
      select next.branch from names cross join lateral (
        select cu.branch from customers cu where ${scope} and cu.branch > names.branch order by cu.branch limit 1
      ) next
    )
    select branch from names order by branch`;
}

function filtersOf(db: Db, caller: UserCaller, query: Query): Sql {
  const conditions = [scopeOf(db, caller, query.courier_id)];
  const branch = branchOf(query);
  if (branch !== undefined) conditions.push(sql`cu.branch = ${branch}`);
  if (query.search) conditions.push(matching(query.search));
  return join(conditions, ' and ');
}

/**
 * The trigram indexes know a text by three letters or digits in a row. One that has none is looked for in the rows
 * themselves: at a million, reading the indexes whole and then every row that they name took twenty times as long.
 */
function matching(search: string): Sql {
  const pattern = containsPattern(search);
  return /[\p{L}\p{N}]{3}/u.test(search)
    ? sql`cu.id = any (array(select customers_matching(${pattern})))`
    : sql`(cu.user_code ilike ${pattern} or (cu.first_name || ' ' || cu.last_name) ilike ${pattern})`;
}

function scopeOf(db: Db, caller: UserCaller, courierId: string | undefined): Sql {
  const own = ownRows(db, caller, 'cu');
  // couriers have one account, whatever they ask for
  return courierId && caller.courierId === null ? sql`${own} and cu.courier_id = ${courierId}::uuid` : own;
}

/** The one courier whose customers are listed, or null for all. */
const courierOf = (caller: UserCaller, query: Query) => caller.courierId ?? query.courier_id ?? null;

const branchOf = ({ branch }: Query) => (branch?.trim() ? branch : undefined);
