import type { UserContext } from '../../../platform/context/request-context.js';
import { pageOfManifests, type ManifestQuery, type SummaryRow } from './queries.js';

export type ManifestPage = { rows: SummaryRow[]; limit: number; nextBefore: string | null };

/** Returns manifests, newest first. A courier sees those that have one of its packages, and counts only these. */
export async function listManifests(ctx: UserContext, query: ManifestQuery): Promise<ManifestPage> {
  const { limit } = query;
  const [found] = await ctx.read([pageOfManifests(ctx, query)]);
  const rows = found.slice(0, limit);
  return { rows, limit, nextBefore: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
}
