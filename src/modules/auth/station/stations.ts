import type { PersonContext, SystemContext } from '../../../platform/context/request-context.js';
import { stationExists, workersOf, type StationWorkerRow } from './queries.js';

/** Returns who can take over the station with a PIN, by name. */
export async function listWorkers(ctx: SystemContext, deviceHash: string): Promise<StationWorkerRow[]> {
  const [rows] = await ctx.read([workersOf(ctx, deviceHash)]);
  return rows;
}

/** Returns whether the station remembers anybody of the caller's tenant. */
export async function isStation(ctx: PersonContext, deviceHash: string): Promise<boolean> {
  const [[found]] = await ctx.asTenant().read([stationExists(ctx, deviceHash)]);
  return found?.isKnown === true;
}
