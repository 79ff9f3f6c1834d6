import type { UserCaller } from '../../../platform/identity/callers.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { literalMatches, namedMatches, similarMatches, type MatchRow } from './queries.js';

/**
 * The customers that a text finds, the best first, inactive ones among them: staff look for whoever's parcel is at
 * hand. Basic mode takes the text literally, advanced mode takes it for a misspelt name; see docs/decisions/0012.
 */
export async function searchCustomers(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'searchCustomers'>,
): Promise<MatchRow[]> {
  if (query.advanced) return searchSimilar(db, caller, query);
  const [rows] = await snapshot(db, caller, [literalMatches(db, caller, query)]);
  // as: the columns that the statement selects
  return rows as MatchRow[];
}

async function searchSimilar(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'searchCustomers'>,
): Promise<MatchRow[]> {
  const statements = [similarMatches(db, caller, query), namedMatches(db, caller, query)];
  // as: the columns that both statements select
  const [similar = [], named = []] = (await snapshot(db, caller, statements)) as MatchRow[][];
  const found = new Set(similar.map(({ id }) => id));
  const others = named.filter(({ id }) => !found.has(id));
  // a stable sort: among equals, the similar ones stay first and in their order
  return [...similar, ...others]
    .sort((one, other) => (other.match_score ?? 0) - (one.match_score ?? 0))
    .slice(0, query.limit);
}
