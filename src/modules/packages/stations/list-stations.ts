import type { UserContext } from '../../../platform/context/request-context.js';
import { pageOfStations, type StationQuery, type StationRow } from './queries.js';

/** Returns one page of the stations of the tenant, by name. */
export async function listStations(
  ctx: UserContext,
  query: StationQuery,
): Promise<{ rows: StationRow[]; total: number }> {
  const [found] = await ctx.read([pageOfStations(ctx, query)]);
  return { rows: found.filter((row) => row.station !== null), total: found[0]?.total ?? 0 };
}
