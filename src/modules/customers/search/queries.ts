import type { UserCaller } from '../../../platform/identity/callers.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { ownRows } from '../../../platform/db/filters.js';
import { containsPattern } from '../../../platform/db/patterns.js';
import { raw, sql, type Db, type Sql } from '../../../platform/db/transaction.js';

export type MatchRow = {
  id: string;
  user_code: string;
  first_name: string;
  last_name: string;
  email: string | null;
  courier_id: string;
  courier_name: string;
  match_score: number | null;
};

type Query = QueryOf<'searchCustomers'>;

const COLUMNS = raw(
  'cu.id, cu.user_code, cu.first_name, cu.last_name, cu.email, cu.courier_id, c.name as courier_name',
);
const WITH_COURIER = raw('join couriers c on c.tenant_id = cu.tenant_id and c.id = cu.courier_id');

// Both searches look past row-level security, in the caller's scope, and answer ids; these statements read the
// rows under the caller's own policies and filters.

/** Customers whose names, e-mail address or user code contain the text. */
export function literalMatches(db: Db, caller: UserCaller, query: Query): Sql {
  const ids = sql`select search_customers(${containsPattern(query.q)}, ${courierOf(caller, query)}::uuid,
    ${query.limit}::int)`;
  return sql`select ${COLUMNS}, null as match_score from customers cu ${WITH_COURIER}
    where ${ownRows(db, caller, 'cu')} and cu.id = any (array(${ids}))
    order by cu.last_name, cu.first_name, cu.id`;
}

/** Customers whose names are nearest to the text. */
export function similarMatches(db: Db, caller: UserCaller, query: Query): Sql {
  return sql`select ${COLUMNS}, found.score as match_score
    from match_customers(${query.q}, ${courierOf(caller, query)}::uuid, ${query.limit}::int) found
    join customers cu on ${ownRows(db, caller, 'cu')} and cu.id = found.id ${WITH_COURIER}
    order by found.score desc, cu.last_name, cu.first_name, cu.id`;
}

/**
 * Customers whose names have every word of the text, spelt so. The similar ones leave out those whose words the
 * dictionary had no room for (decision 0030).
 */
export function namedMatches(db: Db, caller: UserCaller, query: Query): Sql {
  const ids = sql`select customers_named(${query.q}, ${courierOf(caller, query)}::uuid, ${query.limit}::int)`;
  return sql`select ${COLUMNS}, 100 as match_score from customers cu ${WITH_COURIER}
    where ${ownRows(db, caller, 'cu')} and cu.id = any (array(${ids}))
    order by cu.last_name, cu.first_name, cu.id`;
}

/** The one courier that staff ask for; a courier has one account, whatever it asks for. */
const courierOf = (caller: UserCaller, query: Query): string | null =>
  caller.courierId === null ? (query.courier_id ?? null) : null;
