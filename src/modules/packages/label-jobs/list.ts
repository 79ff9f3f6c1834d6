import { pageBefore, type PageBefore } from '../../../platform/context/read-page.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { bridgeOf } from './claim-queries.js';
import { pageOfJobs, type JobQuery, type JobRow } from './queries.js';

export type JobPage = PageBefore<JobRow> & { hasBridge: boolean | null };

/** Returns label jobs, newest first. */
export async function listLabelJobs(ctx: UserContext, query: JobQuery): Promise<JobPage> {
  const { limit, station = null } = query;
  const [found, [bridge]] = await ctx.read([pageOfJobs(ctx, query), bridgeOf(ctx, station)]);
  return { ...pageBefore(found, limit), hasBridge: bridge?.hasBridge ?? null };
}
