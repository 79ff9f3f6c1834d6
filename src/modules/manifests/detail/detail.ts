import type { UserContext } from '../../../platform/context/request-context.js';
import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { selectDisputed, selectFigures, selectInfo, selectPackages } from './queries.js';
import { toDetail } from './view.js';
import { pageBefore, readPageBefore, type PageBefore } from '../../../platform/context/read-page.js';
import { pageOfChanges, type ChangeRow, type ChangesQuery } from './change-queries.js';
import { pageOfManifests, type ManifestQuery } from './list-queries.js';

/**
 * Returns manifests. A courier sees those that have one of its packages, and counts only these.
 * @throws ApiError validation_failed if the days of the flight are in the wrong order
 */
export async function listManifests(ctx: UserContext, query: ManifestQuery) {
  const { flight_from: from, flight_to: to, limit } = query;
  if (from && to && to < from) throw invalidFieldError('flight_to', 'before', { other: 'flight_from' });
  return readPageBefore(ctx, pageOfManifests(ctx, query), limit);
}

/**
 * Returns the part of a manifest that the caller may see.
 * @throws ApiError manifest_not_found, also if the caller may see nothing of it
 */
export async function readManifest(
  ctx: UserContext,
  { id, disputed }: QueryOf<'getManifest'>,
): Promise<DataOf<'getManifest'>> {
  const isForCourier = ctx.caller.role === 'courier';
  const cargo = [selectInfo(ctx, id), selectPackages(ctx, id), selectFigures(ctx, id)] as const;
  const [[info], packages, figures, doubtful] =
    disputed && !isForCourier ? await ctx.read([...cargo, selectDisputed(ctx, id)]) : await ctx.read(cargo);
  if (!info) throw new ApiError('manifest_not_found');
  const detail = await toDetail(info, { packages, figures }, isForCourier);
  return doubtful ? { ...detail, disputed: doubtful.map((row) => row.id) } : detail;
}

/**
 * Returns one page of a manifest's changes, newest first.
 * @throws ApiError manifest_not_found
 */
export async function readChanges(ctx: UserContext, query: ChangesQuery): Promise<PageBefore<ChangeRow>> {
  const [[found], rows] = await ctx.read([selectInfo(ctx, query.manifest_id), pageOfChanges(ctx, query)]);
  if (!found) throw new ApiError('manifest_not_found');
  return pageBefore(rows, query.limit);
}
