import type { UserContext } from '../../../platform/context/request-context.js';
import { pageOfLocations, type LocationQuery, type LocationRow, type LocationTotals } from './queries.js';

export type { LocationQuery, LocationRow, LocationTotals };

/** Returns one page of the places of the tenant's warehouses, and the totals of all. */
export async function listLocations(
  ctx: UserContext,
  query: LocationQuery,
): Promise<{ rows: LocationRow[]; totals: LocationTotals }> {
  const [found] = await ctx.read([pageOfLocations(ctx, query)]);
  const [totals] = found;
  if (!totals) throw new Error('The totals were not selected.');
  return { rows: found.filter((row) => row.location !== null), totals };
}
