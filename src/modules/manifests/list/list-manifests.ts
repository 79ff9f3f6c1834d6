import { readPageBefore } from '../../../platform/context/read-page.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { pageOfManifests, type ManifestQuery } from './queries.js';

/** Returns manifests, newest first. A courier sees those that have one of its packages, and counts only these. */
export const listManifests = (ctx: UserContext, query: ManifestQuery) =>
  readPageBefore(ctx, pageOfManifests(ctx, query), query.limit);
