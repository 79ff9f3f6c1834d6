import { randomUUID } from 'node:crypto';
import { withClient } from '../../../../src/platform/db/connections/roles.js';
import {
  exportPackages,
  listPackages,
  totalPackages,
} from '../../../../src/modules/packages/list/queries.js';
import { enterScope } from '../../../../src/platform/db/transactions/admission.js';
import type { BenchTenant } from '../../rig/tenants.js';
import {
  administrator,
  adminOf,
  callRow,
  contextOf,
  rateRow,
  readRow,
  templateOf,
  type Bench,
  type Row,
} from '../measure.js';
import { inline, timeTransaction } from '../postgres.js';
import { digits, rowCount } from '../../rig/scale.js';
import { fetchBytes, logIn } from '../../rig/service.js';

export const listPackagesRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readRow(bench, tenant, {
    name: `list packages, ${rowCount(tenant.size)} rows`,
    call: { method: 'POST', path: '/api/RetrievePackages.php', body: {} },
    statements: (caller) => [
      listPackages(contextOf(caller), {}, { page: 1, limit: 25 }),
      totalPackages(contextOf(caller), {}),
    ],
  });

/** An intake of a parcel whose customer is known. Not of `tenant.courierId`: the bills of that courier are measured. */
export async function receiveRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const body = { tracking_number: 'IN-{n}', weight: 1.5, user_code: 'C1-11' };
  const template = await templateOf(tenant, { method: 'POST', path: '/api/ReceivePackage.php', body });
  return rateRow(bench, { name: 'receive a package', template, bare: 'bareInsertMs' });
}

/** The packages that the rows of single writes change, one after another. */
const CHANGED = 20_000;

export async function updateRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const values = await freePackages(bench, tenant, CHANGED);
  const body = { package_id: '{value}', description: 'Changed {n}' };
  const template = await templateOf(tenant, { method: 'POST', path: '/api/UpdatePackage.php', body, values });
  return rateRow(bench, { name: 'update a package', template, bare: 'bareInsertMs' });
}

/** Each event puts another package on hold. */
export async function recordEventRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const values = await freePackages(bench, tenant, CHANGED);
  const body = { package_id: '{value}', status: 'on_hold' };
  const call = { method: 'POST', path: '/api/RecordPackageEvent.php', body, values };
  return rateRow(bench, {
    name: 'record a package event',
    template: await templateOf(tenant, call),
    bare: 'bareInsertMs',
  });
}

export async function recordEventsRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const package_ids = await freePackages(bench, tenant, bench.scale.eventPackages);
  const ask = await administrator(tenant);
  const record = (status: string) => ask('POST', '/api/RecordPackageEvent.php', { package_ids, status });
  return callRow(bench, {
    name: `record events, ${digits(package_ids.length)} packages`,
    call: () => record('customs_hold'),
    undo: () => record('released'),
    bare: 'bareCopyMs',
  });
}

export async function labelRow(bench: Bench, tenant: BenchTenant, format: 'pdf' | 'zpl'): Promise<Row> {
  const values = await freePackages(bench, tenant, 1_000);
  const path = `/api/PackageLabel.php?package_id={value}&format=${format}`;
  return rateRow(bench, {
    name: `label, ${format}`,
    template: await templateOf(tenant, { method: 'GET', path, values }),
    bare: 'bareSelectMs',
  });
}

/** A request for the label of a package. Each is for another station, because a station has a limit of waiting labels. */
export async function labelJobRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const [packageId] = await freePackages(bench, tenant, 1);
  const values = Array.from({ length: CHANGED }, () => randomUUID());
  const body = { print_id: '{value}', station: 'belt-{n}', package_ids: [packageId] };
  return rateRow(bench, {
    name: 'request a label',
    template: await templateOf(tenant, { method: 'POST', path: '/api/LabelJobs.php', body, values }),
    bare: 'bareInsertMs',
  });
}

/** The history of one package. */
export async function packageEventsRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const values = await freePackages(bench, tenant, 1_000);
  const path = '/api/PackageEvents.php?package_id={value}';
  return rateRow(bench, {
    name: 'list the events of a package',
    template: await templateOf(tenant, { method: 'GET', path, values }),
    bare: 'bareSelectMs',
  });
}

/** An export of a page as a file, compared with COPY TO of the same rows. */
export async function exportRow(bench: Bench, tenant: BenchTenant, format: 'csv' | 'xlsx'): Promise<Row> {
  const caller = await adminOf(tenant, bench.ownerUrl);
  const headers = { authorization: `Bearer ${await logIn(tenant.host)}` };
  const { exported, times } = bench.scale;
  const body = { export: true, export_format: format, limit: exported };
  const download = () =>
    fetchBytes({ method: 'POST', path: '/api/RetrievePackages.php', host: tenant.host, headers, body });
  const rows = inline(exportPackages(contextOf(caller), {}, { page: 1, limit: exported }));
  const statements = [inline(enterScope(caller)), `copy (${rows}) to stdout (format csv)`];
  await download();
  return callRow(bench, {
    name: `export ${digits(exported)} rows, ${format}`,
    call: download,
    times: times(3),
    against: {
      what: 'psql, COPY TO of the same rows',
      run: async () => (await timeTransaction(bench.servingUrl, statements, times(5))).ms,
    },
    bare: 'bareCopyMs',
  });
}

/** Returns received packages that are on no manifest. Those that an earlier run put on hold are released first. */
export async function freePackages(
  { ownerUrl }: Bench,
  { id }: BenchTenant,
  count: number,
): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    await client.query(
      "update packages set status = 'received' where tenant_id = $1 and status in ('on_hold', 'customs_hold')",
      [id],
    );
    const { rows } = await client.query<{ id: string }>(
      `select id from packages where tenant_id = $1 and manifest_id is null and status = 'received'
       order by id limit $2`,
      [id, count],
    );
    return rows.map((row) => row.id);
  });
}
