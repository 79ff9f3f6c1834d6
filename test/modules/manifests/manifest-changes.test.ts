import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import type { Api } from '../../support/fixture/api.js';
import { withService } from '../../support/fixture/with-service.js';
import { UNKNOWN_ID } from '../bills/billing-calls.js';

const create = async (api: Api, as = 'warehouse') => {
  const { data } = await api.as(as).createManifest({ remarks: 'Evening flight' }).ok();
  return data.manifest_id;
};

/** Receives a parcel, and returns its id and its house number. */
const receive = async (api: Api) =>
  (
    await api
      .as('warehouse')
      .receivePackage({ tracking_number: newNumber(), weight: 2, user_code: 'IEX-1001' })
      .created()
  ).data;

describe('listManifestChanges', () => {
  const { api } = withService();

  test('says who has changed the steps, the fields and the packages of a manifest, newest first', async () => {
    const manifest_id = await create(api);
    const [one, other] = [await receive(api), await receive(api)];
    const package_ids = [one.package_id, other.package_id];
    await api.as('warehouse').manageManifest({ action: 'add_packages', manifest_id, package_ids }).ok();
    await api
      .as('manager')
      .manageManifest({ action: 'remove_packages', manifest_id, package_ids: [other.package_id] })
      .ok();
    const flight = { flight_number: 'BW 485', remarks: 'Later flight' };
    await api
      .as('manager')
      .manageManifest({ action: 'update_meta', manifest_id, ...flight })
      .ok();
    await api.as('admin').manageManifest({ action: 'update_meta', manifest_id, status: 'ready' }).ok();
    await api.as('admin').manageManifest({ action: 'reopen_manifest', manifest_id }).ok();
    for (const as of ['warehouse', 'manager', 'admin']) {
      const { data, meta } = await api.as(as).listManifestChanges({ manifest_id }).ok();
      expect(
        data.map(({ action, changed_by, before, after, packages, house_numbers, remarks }) => ({
          what: [action, changed_by, remarks],
          change: action === 'manifest.created' ? null : [before, after],
          packages: [packages, house_numbers],
        })),
      ).toEqual([
        {
          what: ['manifest.status_changed', 'Demo Admin', null],
          change: [{ status: 'ready' }, { status: 'draft' }],
          packages: [0, []],
        },
        {
          what: ['manifest.status_changed', 'Demo Admin', null],
          change: [{ status: 'draft' }, { status: 'ready' }],
          packages: [0, []],
        },
        {
          what: ['manifest.updated', 'Demo Manager', 'Later flight'],
          change: [{ flight_number: null }, { flight_number: 'BW 485' }],
          packages: [0, []],
        },
        {
          what: ['manifest.packages_removed', 'Demo Manager', null],
          change: [null, null],
          packages: [1, [other.house_number]],
        },
        {
          what: ['manifest.packages_added', 'Demo Warehouse', null],
          change: [null, null],
          packages: [2, [one.house_number, other.house_number].sort()],
        },
        {
          what: ['manifest.created', 'Demo Warehouse', 'Evening flight'],
          change: null,
          packages: [0, []],
        },
      ]);
      expect(meta.next_before).toBeNull();
    }
  });

  test('names the first 20 packages of a change, and counts all', async () => {
    const manifest_id = await create(api);
    const added = [];
    for (let count = 0; count < 22; count += 1) added.push(await receive(api));
    const package_ids = added.map(({ package_id }) => package_id);
    await api.as('warehouse').manageManifest({ action: 'add_packages', manifest_id, package_ids }).ok();
    const [change] = (await api.as('manager').listManifestChanges({ manifest_id }).ok()).data;
    expect([change?.packages, change?.house_numbers.length]).toEqual([22, 20]);
  });

  test('goes on before the last change of a page, and ends', async () => {
    const manifest_id = await create(api);
    for (const flight_number of ['A1', 'A2', 'A3'])
      await api.as('manager').manageManifest({ action: 'update_meta', manifest_id, flight_number }).ok();
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const page = await api
        .as('manager')
        .listManifestChanges({ manifest_id, limit: 3, ...(before ? { before } : {}) })
        .ok();
      seen.push(...page.data.map(({ change_id }) => change_id));
      before = page.meta.next_before;
    } while (before !== null);
    const all = (await api.as('manager').listManifestChanges({ manifest_id }).ok()).data;
    expect(seen).toEqual(all.map(({ change_id }) => change_id));
    expect(seen).toHaveLength(4);
  });

  test('shows nothing of another manifest, nor of another kind of record', async () => {
    const [one, other] = [await create(api), await create(api)];
    await api
      .as('manager')
      .manageManifest({ action: 'update_meta', manifest_id: other, flight_number: 'B2' })
      .ok();
    const { data } = await api.as('manager').listManifestChanges({ manifest_id: one }).ok();
    expect(data.map(({ action }) => action)).toEqual(['manifest.created']);
    const { package_id } = await receive(api);
    await api
      .as('manager')
      .listManifestChanges({ manifest_id: package_id })
      .refused(404, 'manifest_not_found');
  });

  test('responds 401 without a token, 403 to couriers, 404 for a manifest that does not exist', async () => {
    const manifest_id = await create(api);
    await api.anonymous.listManifestChanges({ manifest_id }).refused(401, 'token_missing');
    await api.as('iex').listManifestChanges({ manifest_id }).refused(403, 'permission_denied');
    await api.as('admin').listManifestChanges({ manifest_id: UNKNOWN_ID }).refused(404, 'manifest_not_found');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('listManifestChanges with %s', (_name, options) => {
  const { api, db } = withService(options);

  test('returns to a tenant nothing of a manifest of another one', async () => {
    const manifest_id = await create(api, 'two/admin');
    const { data } = await api.as('two/admin').listManifestChanges({ manifest_id }).ok();
    expect(data).toHaveLength(1);
    await api.as('admin').listManifestChanges({ manifest_id }).refused(404, 'manifest_not_found');
    const own = await create(api);
    const { package_id } = await receive(api);
    // No code writes an entry of another tenant's manifest. The log and the packages alone keep tenants apart then.
    const plant = (tenantId: string, action: string, id: string) =>
      db.query(
        `insert into audit_entries (tenant_id, id, at, actor_kind, action, entity, entity_id, after, request_id)
         select $1, new_id(), now(), 'system', $2, 'manifest', $3, jsonb_build_object('package_ids', jsonb_build_array($4::text)), 'planted'`,
        [tenantId, action, id, package_id],
      );
    await plant(DEMO.tenants.two, 'manifest.planted', own);
    await plant(DEMO.tenants.two, 'manifest.packages_added', manifest_id);
    const shown = (await api.as('admin').listManifestChanges({ manifest_id: own }).ok()).data;
    expect(shown.map(({ action }) => action)).toEqual(['manifest.created']);
    const theirs = (await api.as('two/admin').listManifestChanges({ manifest_id }).ok()).data;
    expect(theirs.map(({ packages, house_numbers }) => [packages, house_numbers])).toEqual([
      [1, []],
      [0, []],
    ]);
    // An entry of another tenant is no place in the own log.
    const before = data[0]?.change_id ?? '';
    expect((await api.as('admin').listManifestChanges({ manifest_id: own, before }).ok()).data).toEqual([]);
  });
});
