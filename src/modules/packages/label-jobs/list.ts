import type { UserContext } from '../../../platform/context/request-context.js';
import { pageOfJobs, type JobQuery, type JobRow } from './queries.js';

export type JobPage = { rows: JobRow[]; limit: number; nextBefore: string | null };

/** Returns label jobs, newest first. */
export async function listLabelJobs(ctx: UserContext, query: JobQuery): Promise<JobPage> {
  const { limit } = query;
  const [found] = await ctx.read([pageOfJobs(ctx, query)]);
  const rows = found.slice(0, limit);
  return { rows, limit, nextBefore: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
}
