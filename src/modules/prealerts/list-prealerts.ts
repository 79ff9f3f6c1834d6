import type { UserContext } from '../../platform/context/request-context.js';
import { isCommonPage } from '../../platform/db/pages.js';
import {
  hasFilters,
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
  const readPage = isCommonPage(query) && !hasFilters(query) ? ctx.preparedRead : ctx.read;
  const [rows, [stats]] = await readPage([pageOfPrealerts(ctx, query), statsOfPrealerts(ctx, query)]);
  if (!stats) throw new Error('An aggregate returned no row.');
  return { rows, stats };
}
