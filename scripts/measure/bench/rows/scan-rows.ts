import { randomUUID } from 'node:crypto';
import { countLoad, findManifest, loadedParcels } from '../../../../src/modules/scans/loading/queries.js';
import type { BenchTenant } from '../../rig/tenants.js';
import { withClient } from '../../../../src/platform/db/connections/roles.js';
import {
  administrator,
  callRow,
  contextOf,
  rateRow,
  readRow,
  templateOf,
  type Bench,
  type Row,
} from '../measure.js';
import { runLoad } from '../run-load.js';
import { digits, rowCount } from '../../rig/scale.js';

/** The most that a station sends in one call. */
const SCANS = 500;

/** The scans of single requests, one after another. */
const SCANNED = 20_000;

/** A scanned parcel is looked up: the first half of what a person at a station waits for. */
export async function resolveScanRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const values = await withClient(bench.ownerUrl, async (client) => {
    const { rows } = await client.query<{ number: string }>(
      'select tracking_number as number from packages where tenant_id = $1 order by id limit $2',
      [tenant.id, SCANNED],
    );
    return rows.map(({ number }) => number);
  });
  const call = { method: 'POST', path: '/api/ResolveScan.php', body: { scan: '{value}' }, values };
  return rateRow(bench, {
    name: `resolve a scan, ${rowCount(tenant.size)} rows`,
    template: await templateOf(tenant, call),
    bare: 'bareSelectMs',
  });
}

/** A parcel is received by one scan: the second half. */
export async function sendScanRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const values = Array.from({ length: SCANNED }, () => randomUUID());
  const scanned_at = now();
  const scan = { scan_id: '{value}', scanned_at, kind: 'receive', scan: 'ONE-{n}', weight: 1.5 };
  const body = { station: 'Dock 1', scans: [{ ...scan, user_code: 'C1-11' }] };
  return rateRow(bench, {
    name: `receive by scan, ${rowCount(tenant.size)} rows`,
    template: await templateOf(tenant, { method: 'POST', path: '/api/ScanBatch.php', body, values }),
    bare: 'bareInsertMs',
  });
}

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

/** How long an intake takes beside a station that sends one batch after another: it waits for locks of parcels. */
export async function receiveBesideScansRow(bench: Bench, tenant: BenchTenant, size: number): Promise<Row> {
  const ask = await administrator(tenant);
  const number = `BESIDE-${randomUUID().slice(0, 8).toUpperCase()}`;
  const body = { tracking_number: `${number}-{n}`, weight: 1.5, user_code: 'C1-11' };
  const template = await templateOf(tenant, { method: 'POST', path: '/api/ReceivePackage.php', body });
  let isOver = false;
  const sendBatches = async () => {
    for (let n = 0; !isOver; n += 1) {
      const prefix = `B-${n}-${randomUUID().slice(0, 8).toUpperCase()}`;
      const scans = scansOf(prefix, tenant.manifestId).slice(0, size);
      await ask('POST', '/api/ScanBatch.php', { station: 'Dock 1', scans });
    }
  };
  const sending = sendBatches();
  try {
    // So slow that the waits of one intake do not add to those of the next, also on a busy machine.
    const load = { port: bench.port, template, connections: 4, ...bench.scale.load, perSecond: 2 };
    const { latency } = await runLoad({ ...load, first: 0, seconds: 5 * bench.scale.load.seconds });
    const name = `receive beside batches of ${digits(size)}`;
    return { name, measured: latency.p50, unit: 'ms', latency };
  } finally {
    isOver = true;
    await sending;
  }
}

function scansOf(prefix: string, manifest_id: string): object[] {
  const scanned_at = now();
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

const now = () => new Date().toISOString().slice(0, 19).replace('T', ' ');

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
