import type { Handlers } from '../../../../generated/handlers.js';
import { pageMeta } from '../../../platform/contract/page-reply.js';
import { recordOf } from '../../../platform/contract/record.js';
import { reply } from '../../../platform/contract/reply.js';
import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { HistoryRow, LoadedManifestRow, ParcelRow } from './queries.js';
import { readLoading, type Loading } from './read-loading.js';

export function manifestLoadingHandlers() {
  return {
    async getManifestLoading({ ctx, query }) {
      const loading = await readLoading(ctx, query);
      const { loaded, expected, extra } = loading.counts;
      const message = `${loaded} of ${expected} packages loaded. ${extra} extra.`;
      return { ...reply(message, viewLoading(loading, query.list)), meta: pageMeta(query, loading.total) };
    },
  } satisfies Partial<Handlers>;
}

type Data = DataOf<'getManifestLoading'>;

const viewLoading = (
  { manifest, counts, parcels, history }: Loading,
  list: QueryOf<'getManifestLoading'>['list'],
): Data => ({
  manifest_id: manifest.id,
  manifest_number: manifest.manifestNumber,
  status: manifest.status,
  gate: manifest.isGated,
  counts,
  override: viewOverride(manifest),
  list,
  parcels: parcels.map(viewParcel),
  history: history.map(viewEntry),
});

function viewOverride(manifest: LoadedManifestRow): Data['override'] {
  const { overrideReason: reason, overriddenAt, overriddenBy, overrideMissing, overrideExtra } = manifest;
  if (reason === null || overriddenAt === null) return null;
  return {
    reason,
    overridden_at: formatDateTime(overriddenAt),
    overridden_by: overriddenBy,
    missing: overrideMissing ?? 0,
    extra: overrideExtra ?? 0,
  };
}

const viewParcel = ({ isLoaded, ...row }: ParcelRow): Data['parcels'][number] => ({
  ...recordOf(row),
  loaded: isLoaded,
});

const viewEntry = ({ userName, ...row }: HistoryRow): Data['history'][number] => ({
  ...recordOf(row),
  user: userName,
});
