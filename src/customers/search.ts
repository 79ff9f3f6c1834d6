import type { UserCaller } from '../auth/callers.js';
import type { QueryOf } from '../contract/types.js';
import { readInScope, type Db } from '../db/transaction.js';
import { literalMatches, similarMatches, type MatchRow } from './search-queries.js';

/**
 * The customers that a text finds, the best first, inactive ones among them: staff look for whoever's parcel is at
 * hand. Basic mode takes the text literally, advanced mode takes it for a misspelt name; see docs/decisions/0012.
 */
export async function searchCustomers(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'searchCustomers'>,
): Promise<MatchRow[]> {
  const statement = query.advanced ? similarMatches : literalMatches;
  const [rows] = await readInScope(db, caller, [statement(db, caller, query)]);
  // as: the columns that both statements select
  return rows as MatchRow[];
}
