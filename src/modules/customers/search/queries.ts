import type { QueryOf } from '../../../platform/contract/types.js';
import { ownRows, containsPattern } from '../../../platform/db/filters.js';
import { raw, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

const CUSTOMER = columns('Customer', 'cu', ['id', 'userCode', 'firstName', 'lastName', 'email', 'courierId']);
const COURIER = columns('Courier', 'c', { courierName: 'name' });

export type MatchRow = RowOf<typeof CUSTOMER> & {
  courierName: string;
  matchScore: number | null;
};

type Query = QueryOf<'searchCustomers'>;

const COLUMNS = sql`${CUSTOMER}, ${COURIER}`;
const WITH_COURIER = raw('join couriers c on c.tenant_id = cu.tenant_id and c.id = cu.courier_id');

// Both search functions bypass row-level security within the caller's scope, and return ids. These statements
// read the rows with the caller's own policies and filters.

/** Selects customers whose names, e-mail address or user code contain the text. */
export function substringMatches(ctx: UserScope, query: Query): Sql<MatchRow> {
  const ids = sql`select search_customers(${containsPattern(query.q)}, ${courierOf(ctx, query)}::uuid,
    ${query.limit}::int)`;
  return sql`select ${COLUMNS}, null as "matchScore" from customers cu ${WITH_COURIER}
    where ${ownRows(ctx, 'cu')} and cu.id = any (array(${ids}))
    order by cu.last_name, cu.first_name, cu.id`;
}

/** Selects customers whose names are most similar to the text. */
export function similarMatches(ctx: UserScope, query: Query): Sql<MatchRow> {
  return sql`select ${COLUMNS}, found.score as "matchScore"
    from match_customers(${query.q}, ${courierOf(ctx, query)}::uuid, ${query.limit}::int) found
    join customers cu on ${ownRows(ctx, 'cu')} and cu.id = found.id ${WITH_COURIER}
    order by found.score desc, cu.last_name, cu.first_name, cu.id`;
}

/**
 * Selects customers whose names contain every word of the text exactly. The similarity search omits those
 * whose words did not fit in the dictionary (decision 0030).
 */
export function exactNameMatches(ctx: UserScope, query: Query): Sql<MatchRow> {
  const ids = sql`select customers_named(${query.q}, ${courierOf(ctx, query)}::uuid, ${query.limit}::int)`;
  return sql`select ${COLUMNS}, 100 as "matchScore" from customers cu ${WITH_COURIER}
    where ${ownRows(ctx, 'cu')} and cu.id = any (array(${ids}))
    order by cu.last_name, cu.first_name, cu.id`;
}

/** Selects texts with a space that the text may lack, the likeliest first, at most four. */
export const splitNames = (ctx: UserScope, query: Query): Sql<{ text: string }> =>
  sql`select split as "text" from split_names(${query.q}, ${courierOf(ctx, query)}::uuid) split`;

/** The courier that staff filter by. A courier only ever sees its own customers. */
const courierOf = ({ caller }: UserScope, query: Query): string | null =>
  caller.courierId === null ? (query.courier_id ?? null) : null;

/** `pruned` is null if the batch did not get its lock. */
export type PrunedBatch = { last_id: string; pruned: number | null };

/** Deletes the unused terms among the next `limit` terms. Returns no row after the last one. */
export const pruneTerms = (after: string, limit: number): Sql<PrunedBatch> =>
  sql`select last_id, pruned from prune_terms(${after}::uuid, ${limit}::int)`;
