import { randomUUID } from 'node:crypto';
import { countLoad, findManifest, loadedParcels } from '../../../src/modules/scans/loading/queries.js';
import type { BenchTenant } from '../database.js';
import { administrator, callRow, contextOf, readRow, type Bench, type Row } from '../measure.js';
import { digits } from '../scale.js';

/** The most that a station sends in one call. */
const SCANS = 500;

/** A batch of an offline station: each parcel is received, put on a shelf and loaded, every tenth is put on hold. */
export async function sendScansRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const ask = await administrator(tenant);
  let calls = 0;
  return callRow(bench, {
    name: `send ${digits(SCANS)} scans`,
    call: () => {
      calls += 1;
      const scans = scansOf(`SCAN-${calls}-${randomUUID().slice(0, 8).toUpperCase()}`, tenant.manifestId);
      return ask('POST', '/api/ScanBatch.php', { station: 'Dock 1', scans });
    },
    times: bench.scale.times(4),
    bare: 'bareCopyMs',
  });
}

function scansOf(prefix: string, manifest_id: string): object[] {
  const scanned_at = new Date().toISOString().slice(0, 19).replace('T', ' ');
  const scans = Array.from({ length: SCANS / 3 }, (_, n) => [
    { kind: 'receive', weight: 1.5, user_code: 'C1-11', n },
    { kind: 'locate', location: 'Shelf 1', n },
    { kind: 'load', manifest_id, n },
    ...(n % 10 === 0 ? [{ kind: 'hold', n }] : []),
  ]).flat();
  return scans
    .slice(0, SCANS)
    .map(({ n, ...scan }) => ({ scan_id: randomUUID(), scanned_at, scan: `${prefix}-${n}`, ...scan }));
}

export const manifestLoadingRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readRow(bench, tenant, {
    name: `ManifestLoading, ${digits(bench.scale.manifestPackages)} packages`,
    call: { method: 'GET', path: `/api/ManifestLoading.php?manifest_id=${tenant.manifestId}` },
    statements: (caller) => [
      findManifest(contextOf(caller), tenant.manifestId),
      countLoad(contextOf(caller), tenant.manifestId),
      loadedParcels(contextOf(caller), tenant.manifestId, 'missing', { limit: 100, offset: 0 }),
    ],
  });
