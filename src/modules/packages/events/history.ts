import type { UserContext } from '../../../platform/context/request-context.js';
import { packageHasCourier, hiddenPackageError } from '../shared/queries.js';
import { findHistory, findTrackedPackage, type HistoryRow, type TrackedRow } from './history-queries.js';

export type History = { tracked: TrackedRow; events: HistoryRow[] };

/**
 * Returns a package's history, oldest event first.
 * @throws ApiError package_not_found, record_forbidden
 */
export async function readHistory(ctx: UserContext, packageId: string): Promise<History> {
  const [[tracked], events, [hidden]] = await ctx.read([
    findTrackedPackage(ctx, packageId),
    findHistory(ctx, packageId),
    packageHasCourier(packageId),
  ]);
  if (!tracked) throw hiddenPackageError(ctx.caller, hidden?.isCouriers === true);
  return { tracked, events };
}
