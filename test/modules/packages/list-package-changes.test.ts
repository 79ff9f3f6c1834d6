import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { UNKNOWN_ID } from '../bills/billing-calls.js';
import { newNumber } from '../../support/builders/parcels.js';
import type { Api } from '../../support/fixture/api.js';
import { withService } from '../../support/fixture/with-service.js';

/** Receives a parcel of a customer, and returns its id. */
const receive = async (api: Api, as = 'warehouse', row: object = { user_code: 'IEX-1001' }) =>
  (
    await api
      .as(as)
      .receivePackage({ tracking_number: newNumber(), weight: 325, ...row })
      .created()
  ).data.package_id;

describe('listPackageChanges', () => {
  const { api } = withService();

  test('says who has changed which field, from what to what, newest first', async () => {
    const package_id = await receive(api);
    await api.as('warehouse').updatePackage({ package_id, weight: 3.25 }).ok();
    await api.as('iex').updatePackage({ package_id, description: 'Two books' }).ok();
    for (const as of ['warehouse', 'manager', 'admin']) {
      const { data, meta } = await api.as(as).listPackageChanges({ package_id }).ok();
      expect(data.map(({ changed_by, before, after }) => [changed_by, before, after]).slice(0, 2)).toEqual([
        ['Island Express', { description: null }, { description: 'Two books' }],
        ['Demo Warehouse', { weight_lb: '325.000' }, { weight_lb: '3.250' }],
      ]);
      expect(data[2]).toMatchObject({
        action: 'package.received',
        changed_by: 'Demo Warehouse',
        before: null,
      });
      expect([data.length, meta.next_before]).toEqual([3, null]);
    }
  });

  test('goes on before the last change of a page, and ends', async () => {
    const package_id = await receive(api);
    for (const weight of [4, 5, 6]) await api.as('manager').updatePackage({ package_id, weight }).ok();
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const page = await api
        .as('manager')
        .listPackageChanges({ package_id, limit: 3, ...(before ? { before } : {}) })
        .ok();
      seen.push(...page.data.map(({ change_id }) => change_id));
      before = page.meta.next_before;
    } while (before !== null);
    const all = (await api.as('manager').listPackageChanges({ package_id }).ok()).data;
    expect(seen).toEqual(all.map(({ change_id }) => change_id));
    expect(seen).toHaveLength(4);
  });

  test('shows nothing of another package, nor of another kind of record', async () => {
    const [one, other] = [await receive(api), await receive(api)];
    await api.as('manager').updatePackage({ package_id: other, weight: 7 }).ok();
    const { data } = await api.as('manager').listPackageChanges({ package_id: one }).ok();
    expect(data.map(({ action }) => action)).toEqual(['package.received']);
    const manifest = { package_id: DEMO.manifests.draft };
    await api.as('manager').listPackageChanges(manifest).refused(404, 'package_not_found');
  });

  test('responds 401 without a token, 403 to couriers, 404 for a package that does not exist', async () => {
    const package_id = await receive(api);
    await api.anonymous.listPackageChanges({ package_id }).refused(401, 'token_missing');
    await api.as('iex').listPackageChanges({ package_id }).refused(403, 'permission_denied');
    await api.as('admin').listPackageChanges({ package_id: UNKNOWN_ID }).refused(404, 'package_not_found');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('listPackageChanges with %s', (_name, options) => {
  const { api, db } = withService(options);

  test('returns to a tenant nothing of a package of another one', async () => {
    const package_id = await receive(api, 'two/admin', {});
    const { data } = await api.as('two/admin').listPackageChanges({ package_id }).ok();
    expect(data).not.toEqual([]);
    await api.as('admin').listPackageChanges({ package_id }).refused(404, 'package_not_found');
    const own = await receive(api);
    // No code writes an entry of another tenant's package. The log alone keeps tenants apart then.
    await db.query(
      `insert into audit_entries (tenant_id, id, at, actor_kind, action, entity, entity_id, request_id)
       select tenant_id, new_id(), now(), actor_kind, 'package.planted', entity, $2, request_id
       from audit_entries where entity_id = $1 limit 1`,
      [package_id, own],
    );
    const shown = (await api.as('admin').listPackageChanges({ package_id: own }).ok()).data;
    expect(shown.map(({ action }) => action)).toEqual(['package.received']);
    const before = data[0]?.change_id ?? '';
    // An entry of another tenant is no place in the own log.
    expect((await api.as('admin').listPackageChanges({ package_id: own, before }).ok()).data).toEqual([]);
  });
});
