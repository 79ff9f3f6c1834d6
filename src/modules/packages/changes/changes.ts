import { pageBefore, type PageBefore } from '../../../platform/context/read-page.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { findTrackedPackage } from '../events/history-queries.js';
import { pageOfChanges, type ChangeRow, type ChangesQuery } from './queries.js';

/**
 * Returns one page of a package's changes, newest first.
 * @throws ApiError package_not_found
 */
export async function readChanges(ctx: UserContext, query: ChangesQuery): Promise<PageBefore<ChangeRow>> {
  const [[found], rows] = await ctx.read([
    findTrackedPackage(ctx, query.package_id),
    pageOfChanges(ctx, query),
  ]);
  if (!found) throw new ApiError('package_not_found');
  return pageBefore(rows, query.limit);
}
