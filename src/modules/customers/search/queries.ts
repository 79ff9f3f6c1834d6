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

// Both search functions bypass row-level security within the caller's scope, and return ids. These statements
// read the rows with the caller's own policies and filters.

/** Selects customers whose names, e-mail address or user code contain the text. */
export function substringMatches(db: Db, caller: UserCaller, query: Query): Sql {
  const ids = sql`select search_customers(${containsPattern(query.q)}, ${courierOf(caller, query)}::uuid,
    ${query.limit}::int)`;
  return sql`select ${COLUMNS}, null as match_score from customers cu ${WITH_COURIER}
    where ${ownRows(db, caller, 'cu')} and cu.id = any (array(${ids}))
    order by cu.last_name, cu.first_name, cu.id`;
}

/** Selects customers whose names are most similar to the text. */
export function similarMatches(db: Db, caller: UserCaller, query: Query): Sql {
  return sql`select ${COLUMNS}, found.score as match_score
    from match_customers(${query.q}, ${courierOf(caller, query)}::uuid, ${query.limit}::int) found
    join customers cu on ${ownRows(db, caller, 'cu')} and cu.id = found.id ${WITH_COURIER}
    order by found.score desc, cu.last_name, cu.first_name, cu.id`;
}

/**
 * Selects customers whose names contain every word of the text exactly. The similarity search omits those
 * whose words did not fit in the dictionary (decision 0030).
 */
export function exactNameMatches(db: Db, caller: UserCaller, query: Query): Sql {
  const ids = sql`select customers_named(${query.q}, ${courierOf(caller, query)}::uuid, ${query.limit}::int)`;
  return sql`select ${COLUMNS}, 100 as match_score from customers cu ${WITH_COURIER}
    where ${ownRows(db, caller, 'cu')} and cu.id = any (array(${ids}))
    order by cu.last_name, cu.first_name, cu.id`;
}

/** The courier that staff filter by. A courier only ever sees its own customers. */
const courierOf = (caller: UserCaller, query: Query): string | null =>
  caller.courierId === null ? (query.courier_id ?? null) : null;
