import type { UserContext } from '../../platform/context/request-context.js';
import {
  pageOfPrealerts,
  statsOfPrealerts,
  type PrealertQuery,
  type PrealertRow,
  type PrealertStats,
} from './list-queries.js';

/** Returns one page of pre-alerts and the statistics of all matching ones, in one round trip. */
export async function listPrealerts(
  ctx: UserContext,
  query: PrealertQuery,
): Promise<{ rows: PrealertRow[]; stats: PrealertStats }> {
  const [rows, [stats]] = await ctx.read([pageOfPrealerts(ctx, query), statsOfPrealerts(ctx, query)]);
  if (!stats) throw new Error('An aggregate returned no row.');
  return { rows, stats };
}
