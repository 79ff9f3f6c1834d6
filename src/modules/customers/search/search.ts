import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { substringMatches, exactNameMatches, similarMatches, type MatchRow } from './queries.js';

/**
 * Returns the customers that match a text, best match first. Inactive ones are included, because a parcel at
 * hand may be theirs. Basic mode matches the text literally, advanced mode is a fuzzy search for misspelt
 * names (docs/decisions/0012).
 */
export async function searchCustomers(
  ctx: UserContext,
  query: QueryOf<'searchCustomers'>,
): Promise<MatchRow[]> {
  if (query.advanced) return searchSimilar(ctx, query);
  const [rows] = await ctx.read([substringMatches(ctx, query)]);
  return rows;
}

async function searchSimilar(ctx: UserContext, query: QueryOf<'searchCustomers'>): Promise<MatchRow[]> {
  const [similar, named] = await ctx.read([similarMatches(ctx, query), exactNameMatches(ctx, query)]);
  const found = new Set(similar.map(({ id }) => id));
  const others = named.filter(({ id }) => !found.has(id));
  // The sort is stable: with equal scores, similar matches stay first and in order.
  return [...similar, ...others]
    .sort((one, other) => (other.matchScore ?? 0) - (one.matchScore ?? 0))
    .slice(0, query.limit);
}
