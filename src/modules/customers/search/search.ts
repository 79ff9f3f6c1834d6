import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { substringMatches, exactNameMatches, similarMatches, splitNames, type MatchRow } from './queries.js';

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

/** Below this score a text may contain two names without the space between them. */
const JOINED_BELOW = 85;

/** Names that were found by splitting the text come after names that are as similar to the text itself. */
const SPLIT_FACTOR = 0.9;

async function searchSimilar(ctx: UserContext, query: QueryOf<'searchCustomers'>): Promise<MatchRow[]> {
  const [similar, named] = await ctx.read([similarMatches(ctx, query), exactNameMatches(ctx, query)]);
  const similarIds = new Set(similar.map(({ id }) => id));
  const others = named.filter(({ id }) => !similarIds.has(id));
  const rows = merge(similar, others, query.limit);
  if ((rows[0]?.matchScore ?? 0) >= JOINED_BELOW) return rows;
  const [splits] = await ctx.read([splitNames(ctx, query)]);
  if (splits.length === 0) return rows;
  const found = await ctx.read(splits.map(({ text }) => similarMatches(ctx, { ...query, q: text })));
  const joined = found.flat().map((row) => ({ ...row, matchScore: splitScore(row.matchScore ?? 0) }));
  return merge(rows, joined, query.limit);
}

const splitScore = (score: number) => Math.round(score * SPLIT_FACTOR * 100) / 100;

/** Returns the best rows of two lists. A customer that is in both has its higher score. */
function merge(some: MatchRow[], others: MatchRow[], limit: number): MatchRow[] {
  // The sort is stable: with equal scores, the rows of the first list stay first and in order.
  const ranked = [...some, ...others].sort((one, other) => (other.matchScore ?? 0) - (one.matchScore ?? 0));
  const seen = new Set<string>();
  return ranked.filter(({ id }) => !seen.has(id) && seen.add(id)).slice(0, limit);
}
