import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import * as queries from './queries.js';

export type Loading = {
  manifest: queries.LoadedManifestRow;
  counts: queries.CountsRow;
  parcels: queries.ParcelRow[];
  history: queries.HistoryRow[];
  /** The length of the list, on all pages. */
  total: number;
};

type LoadingQuery = QueryOf<'getManifestLoading'>;

/** @throws ApiError manifest_not_found */
export async function readLoading(ctx: UserContext, query: LoadingQuery): Promise<Loading> {
  const { manifest_id: id, list, page, limit } = query;
  const span = { limit, offset: (page - 1) * limit };
  const heads = [queries.findManifest(ctx, id), queries.countLoad(ctx, id)] as const;
  if (list === 'history') {
    const [[manifest], [counts], [counted], history] = await ctx.read([
      ...heads,
      queries.countHistory(ctx, id),
      queries.loadHistory(ctx, id, span),
    ]);
    if (!manifest || !counts) throw new ApiError('manifest_not_found');
    return { manifest, counts, parcels: [], history, total: counted?.total ?? 0 };
  }
  const [[manifest], [counts], parcels] = await ctx.read([
    ...heads,
    queries.loadedParcels(ctx, id, list, span),
  ]);
  if (!manifest || !counts) throw new ApiError('manifest_not_found');
  return { manifest, counts, parcels, history: [], total: counts[list] };
}

/** What is open in the load of a manifest that the transaction has locked: the counts, and at most `limit` parcels of each kind. */
export async function readOpenLoad(tx: UserTx, id: string, limit: number) {
  const span = { limit, offset: 0 };
  const [[counts], missing, extra] = await tx.query([
    queries.countLoad(tx, id),
    queries.loadedParcels(tx, id, 'missing', span),
    queries.loadedParcels(tx, id, 'extra', span),
  ]);
  return { missing: counts?.missing ?? 0, extra: counts?.extra ?? 0, open: [...missing, ...extra] };
}

/** The number of parcels that are loaded for a manifest that the transaction has locked, and the numbers of at most `limit` of them. */
export async function readAllLoaded(tx: UserTx, id: string, limit: number) {
  const rows = await tx.query(queries.allLoaded(tx, id, limit));
  return { total: rows[0]?.total ?? 0, trackingNumbers: rows.map(({ trackingNumber }) => trackingNumber) };
}
