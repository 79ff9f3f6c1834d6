import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber, shipPackages } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { deviceScan, sendScans } from '../../../support/scans/device-scans.js';

const { api, service } = withService();
const list = async (query: object = {}, as = 'manager') => api.as(as).listLocations(query).ok();

/** Receives a parcel of each weight, and puts all of them to the place. */
async function put(location: string, ...weights: number[]): Promise<{ id: string; number: string }[]> {
  const put: { id: string; number: string }[] = [];
  for (const weight of weights) {
    const number = newNumber();
    const { data } = await api.as('warehouse').receivePackage({ tracking_number: number, weight }).created();
    await sendScans(api, [deviceScan('locate', number, 1, { location })]);
    put.push({ id: data.package_id, number });
  }
  return put;
}

const inStock = async () => {
  const { rows } = await service().owner.query<{ n: number }>(
    `select count(*)::int as n from packages p where tenant_id = $1 and status in ('received', 'on_hold', 'customs_hold')
       and not exists (select from manifests m where m.id = p.manifest_id and m.status in ('shipped', 'completed'))`,
    [DEMO.tenants.demo],
  );
  return rows[0]?.n ?? 0;
};

describe('listLocations', () => {
  beforeEach(() => service().owner.query('delete from parcel_positions'));

  test('counts and weighs the packages of each place, and says since when the oldest is there', async () => {
    const [first] = await put('A-1', 2.5, 1.25);
    await put('B-2', 4);
    await service().owner.query(`update packages set received_at = '2026-01-02 03:04:05Z' where id = $1`, [
      first?.id,
    ]);
    const { data, meta, message } = await list();
    expect(message).toBe('2 places found.');
    const place = { warehouse_id: DEMO.warehouses.primary, warehouse_name: expect.any(String) };
    expect(data).toEqual([
      { ...place, location: 'A-1', packages: 2, weight_lb: 3.75, oldest_received_at: '2026-01-02 03:04:05' },
      { ...place, location: 'B-2', packages: 1, weight_lb: 4, oldest_received_at: expect.any(String) },
    ]);
    expect(meta).toEqual({
      current_page: 1,
      per_page: 100,
      total_records: 2,
      total_pages: 1,
      total_packages: 3,
      total_weight_lb: 7.75,
      without_location: (await inStock()) - 3,
    });
  });

  test('a parcel that moves is at its last place only, and one that has left is at none', async () => {
    const [moved, shipped, lost, held] = await put('A-1', 1, 1, 1, 1);
    await sendScans(api, [deviceScan('locate', moved?.number ?? '', 0, { location: 'A-2' })]);
    await shipPackages(api, [shipped?.id ?? '']);
    const record = (packageId: string | undefined, status: 'lost' | 'on_hold') =>
      api
        .as('manager')
        .recordPackageEvent({ package_ids: [packageId ?? ''], status })
        .ok();
    await record(lost?.id, 'lost');
    await record(held?.id, 'on_hold');
    expect((await list()).data).toMatchObject([
      { location: 'A-1', packages: 1 },
      { location: 'A-2', packages: 1 },
    ]);
    // A parcel on hold that left on a manifest before is not in the warehouse.
    await record(shipped?.id, 'on_hold');
    expect((await list()).meta.total_packages).toBe(2);
  });

  test('a place of a parcel that was not received is not listed, until it is received', async () => {
    const number = newNumber();
    await sendScans(api, [deviceScan('locate', number, 5, { location: 'C-9' })]);
    expect((await list()).data).toEqual([]);
    await api.as('warehouse').receivePackage({ tracking_number: number, weight: 1 }).created();
    expect((await list()).data).toMatchObject([{ location: 'C-9', packages: 1 }]);
  });

  test('finds places by a part of their name, and takes its characters literally', async () => {
    for (const place of ['A-1', 'A-12', 'B-1', '50% off', 'under_score']) await put(place, 1);
    const found = async (q: string) => (await list({ q })).data.map(({ location }) => location);
    expect(await found('a-1')).toEqual(['A-1', 'A-12']);
    expect(await found('%')).toEqual(['50% off']);
    expect(await found('_')).toEqual(['under_score']);
    expect(await found('nowhere')).toEqual([]);
    expect((await list({ q: 'nowhere' })).meta).toMatchObject({
      total_records: 0,
      total_packages: 0,
      without_location: 0,
    });
  });

  test('the same name in two warehouses is two places, and a warehouse filters', async () => {
    const [, there] = await put('A-1', 1, 2);
    await service().owner.query('update packages set warehouse_id = $1 where id = $2', [
      DEMO.warehouses.second,
      there?.id,
    ]);
    expect((await list()).data).toHaveLength(2);
    const { data } = await list({ warehouse_id: DEMO.warehouses.second });
    expect(data).toMatchObject([{ location: 'A-1', weight_lb: 2, warehouse_id: DEMO.warehouses.second }]);
    for (const warehouse_id of [DEMO.warehouses.two, DEMO.couriers.IEX])
      expect((await list({ warehouse_id })).meta).toMatchObject({ total_records: 0, without_location: 0 });
  });

  test('has pages and orders, and a page behind the last one has the totals', async () => {
    await put('A', 1, 1, 1);
    await put('B', 9);
    await put('C', 2, 2);
    const names = async (query: object) => (await list(query)).data.map(({ location }) => location);
    expect(await names({ sort_by: 'packages', sort_dir: 'DESC' })).toEqual(['A', 'C', 'B']);
    expect(await names({ sort_by: 'weight_lb', sort_dir: 'DESC' })).toEqual(['B', 'C', 'A']);
    expect(await names({ sort_by: 'oldest_received_at' })).toEqual(['A', 'B', 'C']);
    expect(await names({ limit: 2, page: 2 })).toEqual(['C']);
    const behind = await list({ limit: 2, page: 3 });
    expect(behind).toMatchObject({ data: [], meta: { total_records: 3, total_pages: 2, total_packages: 6 } });
  });

  test('is for staff, and a filter of the package list leads to the packages of a place', async () => {
    const [parcel] = await put('A-7', 1);
    for (const as of ['admin', 'manager', 'warehouse']) expect((await list({}, as)).data).toHaveLength(1);
    await api.as('iex').listLocations().refused(403, 'permission_denied');
    await api.anonymous.listLocations().refused(401, 'token_missing');
    await api.as('manager').listLocations({ limit: 501 }).refused(400, 'validation_failed');
    const { data } = await api.as('manager').listPackages({ location: 'A-7' }).ok();
    expect(data).toMatchObject([{ package_id: parcel?.id }]);
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('listLocations with %s', (_name, options) => {
  const other = withService(options);

  test('lists and counts nothing of another tenant, also if both have the same number at a place', async () => {
    const number = newNumber();
    const as = (name: string) => other.api.as(name);
    await as('admin').receivePackage({ tracking_number: number, weight: 1 }).created();
    const before = await as('admin').listLocations().ok();
    await as('two/admin').receivePackage({ tracking_number: number, weight: 7 }).created();
    const { results } = await sendScans(other.api, [deviceScan('locate', number, 1, { location: 'TWO-1' })], {
      as: 'two/admin',
    });
    expect(results).toMatchObject([{ result: 'done' }]);
    const after = await as('admin').listLocations().ok();
    expect({ data: after.data, meta: after.meta }).toEqual({ data: before.data, meta: before.meta });
    expect((await as('two/admin').listLocations().ok()).data).toMatchObject([
      { location: 'TWO-1', weight_lb: 7 },
    ]);
  });
});
