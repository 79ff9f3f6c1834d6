import type { UserContext } from '../../../platform/context/request-context.js';
import { bridgeOf } from './bridge-queries.js';
import { pageOfJobs, type JobQuery, type JobRow } from './queries.js';

export type JobPage = { rows: JobRow[]; limit: number; nextBefore: string | null; hasBridge: boolean | null };

/** Returns label jobs, newest first. */
export async function listLabelJobs(ctx: UserContext, query: JobQuery): Promise<JobPage> {
  const { limit, station = null } = query;
  const [found, [bridge]] = await ctx.read([pageOfJobs(ctx, query), bridgeOf(ctx, station)]);
  const rows = found.slice(0, limit);
  const nextBefore = found.length > limit ? (rows.at(-1)?.id ?? null) : null;
  return { rows, limit, nextBefore, hasBridge: bridge?.hasBridge ?? null };
}
