import {
  selectFigures,
  selectInfo,
  selectPackages,
} from '../../../../src/modules/manifests/detail/queries.js';
import { pageOfManifests } from '../../../../src/modules/manifests/detail/list-queries.js';
import { withClient } from '../../../../src/platform/db/connections/roles.js';
import { enterScope } from '../../../../src/platform/db/transactions/admission.js';
import type { BenchTenant } from '../../rig/tenants.js';
import { administrator, adminOf, callRow, contextOf, readRow, type Bench, type Row } from '../measure.js';
import { inline, timeTransaction } from '../postgres.js';
import { digits } from '../../rig/scale.js';
import { freePackages } from './package-rows.js';

export const getManifestRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readRow(bench, tenant, {
    name: `GetManifest, ${digits(bench.scale.manifestPackages)} packages`,
    call: { method: 'GET', path: `/api/GetManifest.php?id=${tenant.manifestId}` },
    statements: (caller) =>
      [selectInfo, selectPackages, selectFigures].map((select) =>
        select(contextOf(caller), tenant.manifestId),
      ),
  });

export const listManifestsRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  readRow(bench, tenant, {
    name: 'Manifests, 25 ready ones',
    call: { method: 'GET', path: '/api/Manifests.php?status=ready' },
    statements: (caller) => [
      pageOfManifests(contextOf(caller), {
        status: 'ready',
        sort_by: 'created_at',
        sort_dir: 'DESC',
        limit: 25,
      }),
    ],
  });

/** Adds packages to a manifest in one call, compared with the same UPDATE, rolled back. */
export async function addPackagesRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const ids = await freePackages(bench, tenant, bench.scale.added);
  const manifestId = await emptyManifest(bench, tenant);
  const ask = await administrator(tenant);
  const manage = (action: string) =>
    ask('POST', '/api/ManageManifest.php', { action, manifest_id: manifestId, package_ids: ids });
  const caller = await adminOf(tenant, bench.ownerUrl);
  const list = ids.map((id) => `'${id}'`).join(',');
  const update = `update packages set manifest_id = '${manifestId}', updated_at = now()
    where tenant_id = '${tenant.id}' and id = any(array[${list}]::uuid[]) and manifest_id is null`;
  const statements = [inline(enterScope(caller)), update, 'rollback', 'begin'];
  return callRow(bench, {
    name: `add ${digits(ids.length)} packages`,
    call: () => manage('add_packages'),
    undo: () => manage('remove_packages'),
    against: {
      what: 'psql, the same UPDATE',
      run: async () => (await timeTransaction(bench.servingUrl, statements, 3)).ms,
    },
    bare: 'bareCopyMs',
  });
}

const emptyManifest = ({ ownerUrl }: Bench, { id }: BenchTenant): Promise<string> =>
  withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      "select id from manifests where tenant_id = $1 and manifest_number = 'MAN-20260101-0002'",
      [id],
    );
    return rows[0]?.id ?? '';
  });
