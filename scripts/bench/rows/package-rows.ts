import { withClient } from '../../../src/platform/db/connections/roles.js';
import { previewStatements } from '../../../src/modules/invoices/queries.js';
import { exportPackages, listPackages, totalPackages } from '../../../src/modules/packages/list/queries.js';
import { enterScope } from '../../../src/platform/db/admission.js';
import type { BenchTenant } from '../database.js';
import {
  adminOf,
  compare,
  contextOf,
  filters,
  readRow,
  timeCalls,
  type Bench,
  type Row,
} from '../measure.js';
import { inline, timeTransaction } from '../postgres.js';
import { digits, rowCount } from '../scale.js';
import { exchange, fetchBytes, logIn } from '../service.js';

export const listPackagesRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readRow(bench, tenant, {
    name: `list packages, ${rowCount(tenant.size)} rows`,
    times: 100,
    call: { method: 'POST', path: '/api/RetrievePackages.php', body: {} },
    statements: (caller) => [
      listPackages(contextOf(caller), {}, { page: 1, limit: 25 }),
      totalPackages(contextOf(caller), {}),
    ],
  });

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
  await timeCalls(download, 2);
  const compared = await compare(
    bench.scale,
    () => timeCalls(download, times(3)),
    async () => (await timeTransaction(bench.servingUrl, statements, times(5))).ms,
  );
  return {
    name: `export ${digits(exported)} rows, ${format}`,
    ...compared,
    unit: 'ms',
    against: 'psql, COPY TO of the same rows',
  };
}

/** An invoice preview for a year of one courier. */
export const previewRow = (bench: Bench, tenant: BenchTenant): Promise<Row> => {
  const period = { courierId: tenant.courierId, startDate: '2000-01-01', endDate: '2099-12-31' };
  return readRow(bench, tenant, {
    name: `invoice preview, ${digits(tenant.size / 10)} packages`,
    times: 5,
    call: {
      method: 'POST',
      path: '/api/GenerateCourierInvoice.php',
      body: { courier_id: period.courierId, start_date: period.startDate, end_date: period.endDate },
    },
    statements: (caller) => previewStatements({ ...filters, caller }, period),
  });
};

/**
 * Adds packages to a manifest in one call and removes them unmeasured, compared with the same UPDATE, rolled
 * back.
 */
export async function addPackagesRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const { ids, manifestId } = await pickPackages(bench, tenant);
  const headers = { authorization: `Bearer ${await logIn(tenant.host)}` };
  const manage = (action: string) =>
    exchange({
      method: 'POST',
      path: '/api/ManageManifest.php',
      host: tenant.host,
      headers,
      body: { action, manifest_id: manifestId, package_ids: ids },
    });
  const caller = await adminOf(tenant, bench.ownerUrl);
  const list = ids.map((id) => `'${id}'`).join(',');
  const update = `update packages set manifest_id = '${manifestId}', updated_at = now()
    where tenant_id = '${tenant.id}' and id = any(array[${list}]::uuid[]) and manifest_id is null`;
  const compared = await compare(
    bench.scale,
    async () => {
      const took = await timeCalls(() => manage('add_packages'), 1);
      await manage('remove_packages');
      return took;
    },
    async () =>
      (await timeTransaction(bench.servingUrl, [inline(enterScope(caller)), update, 'rollback', 'begin'], 3))
        .ms,
  );
  return {
    name: `add ${digits(ids.length)} packages`,
    ...compared,
    unit: 'ms',
    against: 'psql, the same UPDATE',
  };
}

async function pickPackages(
  { ownerUrl, scale }: Bench,
  { id }: BenchTenant,
): Promise<{ ids: string[]; manifestId: string }> {
  return withClient(ownerUrl, async (client) => {
    const packages = await client.query<{ id: string }>(
      'select id from packages where tenant_id = $1 and manifest_id is null order by id limit $2',
      [id, scale.added],
    );
    const manifests = await client.query<{ id: string }>(
      "select id from manifests where tenant_id = $1 and manifest_number = 'MAN-20260101-0002'",
      [id],
    );
    return { ids: packages.rows.map((row) => row.id), manifestId: manifests.rows[0]?.id ?? '' };
  });
}
