import type { UserContext } from '../../../platform/context/request-context.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { selectFigures, selectInfo, selectPackages } from './queries.js';
import { toDetail } from './view.js';
import { readPageBefore } from '../../../platform/context/read-page.js';
import { pageOfManifests, type ManifestQuery } from './list-queries.js';

/** Returns manifests, newest first. A courier sees those that have one of its packages, and counts only these. */
export const listManifests = (ctx: UserContext, query: ManifestQuery) =>
  readPageBefore(ctx, pageOfManifests(ctx, query), query.limit);

/**
 * Returns the part of a manifest that the caller may see.
 * @throws ApiError manifest_not_found, also if the caller may see nothing of it
 */
export async function readManifest(ctx: UserContext, id: string): Promise<DataOf<'getManifest'>> {
  const [[info], packages, figures] = await ctx.read([
    selectInfo(ctx, id),
    selectPackages(ctx, id),
    selectFigures(ctx, id),
  ]);
  if (!info) throw new ApiError('manifest_not_found');
  return toDetail(info, { packages, figures }, ctx.caller.role === 'courier');
}
