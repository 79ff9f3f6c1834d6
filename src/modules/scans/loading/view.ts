import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { HistoryRow, LoadedManifestRow, ParcelRow } from './queries.js';
import type { Loading } from './read-loading.js';

type Data = DataOf<'getManifestLoading'>;

export function viewLoading(
  { manifest, counts, parcels, history }: Loading,
  list: QueryOf<'getManifestLoading'>['list'],
): Data {
  return {
    manifest_id: manifest.id,
    manifest_number: manifest.manifestNumber,
    status: manifest.status,
    gate: manifest.isGated,
    counts,
    override: viewOverride(manifest),
    list,
    parcels: parcels.map(viewParcel),
    history: history.map(viewEntry),
  };
}

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

const viewParcel = (row: ParcelRow): Data['parcels'][number] => ({
  package_id: row.packageId,
  tracking_number: row.trackingNumber,
  house_number: row.houseNumber,
  status: row.status,
  courier_name: row.courierName,
  user_code: row.userCode,
  location: row.location,
  loaded: row.isLoaded,
  loaded_at: row.loadedAt && formatDateTime(row.loadedAt),
  station: row.station,
  reason: row.reason,
  manifest_number: row.manifestNumber,
});

const viewEntry = (row: HistoryRow): Data['history'][number] => ({
  scan_id: row.scanId,
  kind: row.kind,
  scanned_at: formatDateTime(row.scannedAt),
  arrived_at: formatDateTime(row.arrivedAt),
  station: row.station,
  user: row.userName,
  scan: row.scan,
  package_id: row.packageId,
  house_number: row.houseNumber,
  outcome: row.outcome,
  reason: row.reason,
  remarks: row.remarks,
});
