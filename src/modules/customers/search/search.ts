import type { UserCaller } from '../../../platform/identity/callers.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { substringMatches, exactNameMatches, similarMatches, type MatchRow } from './queries.js';

/**
 * Returns the customers that match a text, best match first. Inactive ones are included, because a parcel at
 * hand may be theirs. Basic mode matches the text literally, advanced mode is a fuzzy search for misspelt
 * names (docs/decisions/0012).
 */
export async function searchCustomers(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'searchCustomers'>,
): Promise<MatchRow[]> {
  if (query.advanced) return searchSimilar(db, caller, query);
  const [rows] = await snapshot(db, caller, [substringMatches(db, caller, query)]);
  // The statement selects exactly these columns.
  return rows as MatchRow[];
}

async function searchSimilar(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'searchCustomers'>,
): Promise<MatchRow[]> {
  const statements = [similarMatches(db, caller, query), exactNameMatches(db, caller, query)];
  // Both statements select exactly these columns.
  const [similar = [], named = []] = (await snapshot(db, caller, statements)) as MatchRow[][];
  const found = new Set(similar.map(({ id }) => id));
  const others = named.filter(({ id }) => !found.has(id));
  // The sort is stable: with equal scores, similar matches stay first and in order.
  return [...similar, ...others]
    .sort((one, other) => (other.match_score ?? 0) - (one.match_score ?? 0))
    .slice(0, query.limit);
}
