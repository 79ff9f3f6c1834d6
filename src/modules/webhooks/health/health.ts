import type { Page } from '../../../platform/context/read-page.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { healthOfEndpoints, type HealthQuery, type HealthRow } from './queries.js';

/** Returns one page of the URLs of the couriers that the caller may see. All are read, because they are few: three per courier. */
export async function readHealth(ctx: UserContext, query: HealthQuery): Promise<Page<HealthRow>> {
  const [rows] = await ctx.read([healthOfEndpoints(ctx, query)], { from: 'replica' });
  const start = (query.page - 1) * query.limit;
  return { rows: rows.slice(start, start + query.limit), total: rows.length };
}
