import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { expectSameRefusal } from '../../support/assertions/same-refusal.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { insertPackages } from '../../support/manifests/packages.js';

const STAFF = ['admin', 'manager', 'warehouse'];
const LB_IN_KG = 0.45359237;
const PACKAGE_OF_TWO = DEMO.packages.two[0] ?? '';

const { IEX, HRB } = DEMO.couriers;

const { api, db } = withService();
const { draft } = makeManifests(api);

const read = (id: string, as: string) => api.as(as).getManifest({ id });

describe('reading a manifest', () => {
  let id: string;
  const packages: Record<'iex' | 'masked' | 'hrb' | 'nobody', string> = {
    iex: '',
    masked: '',
    hrb: '',
    nobody: '',
  };
  beforeAll(async () => {
    ({ id } = await draft([], {
      awb_number: '106-12345675',
      flight_date: '2026-12-01',
      notes: 'Seen by all aboard',
    }));
    const aboard = { manifestId: id };
    [packages.nobody] = await insertPackages(db, 1, {
      ...aboard,
      courierId: null,
      weightLb: '0.1',
      receivedAt: '2026-11-04',
    });
    [packages.hrb] = await insertPackages(db, 1, {
      ...aboard,
      courierId: HRB,
      weightLb: '0.2',
      receivedAt: '2026-11-03',
    });
    [packages.iex] = await insertPackages(db, 1, {
      ...aboard,
      courierId: IEX,
      userCode: 'IEX-1001',
      weightLb: '10.125',
      receivedAt: '2026-11-02',
    });
    [packages.masked] = await insertPackages(db, 1, {
      ...aboard,
      courierId: IEX,
      weightLb: '0.7',
      receivedAt: '2026-11-01',
    });
  });

  test.each(STAFF)('%s sees everything in the order of receipt', async (as) => {
    const reply = await read(id, as).ok();
    const { info, packages: cargo, stats } = reply.data;
    expect(reply.message).toBe(`Manifest ${info.manifest_number}.`);
    expect(info).toEqual({
      manifest_id: id,
      manifest_number: expect.stringMatching(/^MAN-\d{8}-[A-Z0-9]{4}$/),
      awb_number: '106-12345675',
      airline_prefix: '106',
      flight_date: '2026-12-01',
      flight_number: null,
      status: 'draft',
      notes: 'Seen by all aboard',
      loading_gate: 'warehouse',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      warehouse_id: DEMO.warehouses.primary,
    });
    const order = [packages.masked, packages.iex, packages.hrb, packages.nobody];
    expect(cargo.map((each) => each.package_id)).toEqual(order);
    const stored = await db.package(packages.iex);
    expect(cargo[1]).toEqual({
      package_id: packages.iex,
      tracking_number: stored.tracking_number,
      house_number: stored.house_number,
      weight: 10.125,
      first_name: 'Ann',
      last_name: 'Bell',
      user_code: 'IEX-1001',
      courier_name: 'Island Express',
      courier_code: 'IEX',
      carrier_name: null,
    });
    expect(cargo[0]?.tracking_number).not.toContain('*');
    expect(stats).toEqual({
      total_count: 4,
      total_weight_lb: 11.125,
      total_weight_kg: 5.046,
      by_courier: {
        IEX: { count: 2, weight: 10.825, house_color: '#0A7D5C' },
        HRB: { count: 1, weight: 0.2, house_color: '#1F4E9E' },
        UNKNOWN: { count: 1, weight: 0.1, house_color: null },
      },
    });
  });

  test('a courier sees its own packages and totals, with numbers of unknown customers masked', async () => {
    const { packages: cargo, stats, info } = (await read(id, 'iex').ok()).data;
    expect(info).toMatchObject({ manifest_id: id, notes: 'Seen by all aboard' });
    const { tracking_number: masked } = await db.package(packages.masked);
    const { tracking_number: known } = await db.package(packages.iex);
    expect(cargo.map((each) => each.tracking_number)).toEqual([
      '*'.repeat(masked.length - 4) + masked.slice(-4),
      known,
    ]);
    expect(stats).toEqual({
      total_count: 2,
      total_weight_lb: 10.825,
      total_weight_kg: 4.91,
      by_courier: { IEX: { count: 2, weight: 10.825, house_color: '#0A7D5C' } },
    });
    const siblings = JSON.stringify((await read(id, 'hrb').ok()).body);
    for (const hidden of [packages.iex, packages.masked, packages.nobody, 'IEX'])
      expect(siblings).not.toContain(hidden);
  });

  test('responds 404 identically to unknown manifests, foreign ones and those without own packages', async () => {
    const { id: empty } = await draft();
    const { id: onlyTheirs } = await draft();
    await insertPackages(db, 1, { manifestId: onlyTheirs, courierId: HRB });
    await insertPackages(db, 1, { manifestId: onlyTheirs, courierId: null });
    await expectSameRefusal(404, 'manifest_not_found', [
      read(randomUUID(), 'iex'),
      read(empty, 'iex'),
      read(onlyTheirs, 'iex'),
      read(id, 'two/admin'),
      read(id, 'two/two'),
      read(randomUUID(), 'admin'),
    ]);
  });

  test('returns zero totals for an empty manifest', async () => {
    const { packages: cargo, stats } = (await read((await draft()).id, 'admin').ok()).data;
    expect(cargo).toEqual([]);
    expect(stats).toEqual({ total_count: 0, total_weight_lb: 0, total_weight_kg: 0, by_courier: {} });
  });

  test('returns 2,000 packages in one response with exact totals', async () => {
    const { id: full } = await draft();
    await insertPackages(db, 2_000, { manifestId: full });
    const { packages: cargo, stats } = (await read(full, 'admin').ok()).data;
    expect(cargo).toHaveLength(2_000);
    const thousandths = cargo.reduce((sum, { weight }) => sum + Math.round(weight * 1000), 0);
    expect(stats.total_weight_lb).toBe(thousandths / 1000);
    expect(stats.total_weight_kg).toBeCloseTo((thousandths / 1000) * LB_IN_KG, 2);
    expect(stats.by_courier['IEX']).toMatchObject({ count: 2_000, weight: thousandths / 1000 });
  });

  test('requires id to be a UUID', async () => {
    const queries: Record<string, string | string[]>[] = [{}, { id: 'x' }, { id: '' }, { id: [id, id] }];
    for (const query of queries) {
      const reply = await api.as('admin').getManifest(unchecked(query)).refused(400, 'validation_failed');
      expect(reply.errors[0]?.field).toContain('id');
    }
  });
});

describe('access to manifests', () => {
  const actions = (id: string, packageId: string) => [
    { action: 'create_manifest' },
    { action: 'update_meta', manifest_id: id, status: 'ready' },
    { action: 'add_packages', manifest_id: id, package_ids: [packageId] },
    { action: 'remove_packages', manifest_id: id, package_ids: [packageId] },
    { action: 'reopen_manifest', manifest_id: id },
    { action: 'delete_manifest', manifest_id: id },
  ];

  test('rejects every change by a courier with 403', async () => {
    const { id } = await draft();
    const [packageId] = await insertPackages(db, 1, { manifestId: id });
    const before = await db.count('manifests');
    for (const as of ['iex', 'hrb']) {
      await api.as(as).createManifest().refused(403, 'permission_denied');
      for (const body of actions(id, packageId)) {
        await api.as(as).manageManifest(unchecked(body)).refused(403, 'permission_denied');
      }
    }
    expect(await db.manifest(id)).toMatchObject({ status: 'draft' });
    expect(await db.count('manifests')).toBe(before);
  });

  test.each(STAFF)('%s may use every action', async (as) => {
    const { id } = await draft();
    const [packageId] = await insertPackages(db, 1);
    for (const body of actions(id, packageId)) await api.as(as).manageManifest(unchecked(body)).ok();
  });

  test('rejects disabled accounts with 403 and anonymous callers with 401', async () => {
    for (const operation of ['createManifest', 'manageManifest', 'getManifest'] as const) {
      const sent = unchecked(
        operation === 'getManifest' ? { id: randomUUID() } : { action: 'create_manifest' },
      );
      await api.as('disabled').call(operation, sent).refused(403, 'account_disabled');
      await api.anonymous.call(operation, sent).refused(401, 'token_missing');
    }
  });

  test('responds to every action on a foreign manifest as on an unknown one, and changes nothing', async () => {
    const { id } = await draft();
    const before = await db.manifest(id);
    const admin = api.as('two/admin');
    const foreign = actions(id, PACKAGE_OF_TWO).slice(1);
    const unknown = actions(randomUUID(), PACKAGE_OF_TWO).slice(1);
    for (const [index, body] of foreign.entries())
      await expectSameRefusal(404, 'manifest_not_found', [
        admin.manageManifest(unchecked(body)),
        admin.manageManifest(unchecked(unknown[index])),
      ]);
    expect(await db.manifest(id)).toEqual(before);
  });

  test('rejects an unknown action and a missing manifest_id or package_ids with 400', async () => {
    const { id } = await draft();
    const bodies = [
      { action: 'explode' },
      {},
      { action: 'update_meta' },
      { action: 'delete_manifest' },
      { action: 'reopen_manifest' },
      { action: 'add_packages', manifest_id: id },
      { action: 'remove_packages', package_ids: [randomUUID()] },
      { action: 'add_packages', manifest_id: id, package_ids: ['x'] },
    ];
    for (const body of bodies)
      await api.as('warehouse').manageManifest(unchecked(body)).refused(400, 'validation_failed');
  });
});

describe('disputed packages of a manifest', () => {
  let id: string;
  let [clear, twice, spelled]: string[] = [];
  beforeAll(async () => {
    const owned = { courierId: IEX, userCode: 'IEX-1001' };
    [clear, twice, spelled] = await insertPackages(db, 3, owned);
    ({ id } = await draft([clear, twice, spelled].map(String)));
    // More flagged pre-alerts of other parcels than a page of them has.
    await db.query(
      `insert into prealerts (id, tenant_id, courier_id, user_code, tracking_number, tracking_key, status)
       select new_id(), $1, $2, 'HRB-2001', 'OTHER' || n, 'OTHER' || n, 'flagged' from generate_series(1, 600) n`,
      [DEMO.tenants.demo, HRB],
    );
    const claim = (packageId: string | undefined, status: string, spelling = '') =>
      db.query(
        `insert into prealerts (id, tenant_id, courier_id, user_code, tracking_number, tracking_key, status, created_at)
         select new_id(), p.tenant_id, $2, 'HRB-2001', p.tracking_number || $4, p.tracking_key, $3, now() - interval '1 year'
         from packages p where p.id = $1`,
        [packageId, HRB, status, spelling],
      );
    await claim(clear, 'pending');
    await claim(twice, 'flagged');
    await claim(twice, 'flagged', '-2');
    await claim(spelled, 'flagged', '-1');
  });

  test.each(STAFF)('are named for %s who asks for them', async (as) => {
    const { data } = await api.as(as).getManifest({ id, disputed: true }).ok();
    // They were received at one time, so their ids order them.
    expect(data.disputed).toEqual([twice, spelled].toSorted());
    expect((await read(id, as).ok()).data).not.toHaveProperty('disputed');
  });

  test('are not named for a courier', async () => {
    const { data } = await api.as('iex').getManifest({ id, disputed: true }).ok();
    expect(data.packages).toHaveLength(3);
    expect(data).not.toHaveProperty('disputed');
  });

  test('are none on a manifest without claims', async () => {
    const other = await draft(await insertPackages(db, 1));
    const { data } = await api.as('manager').getManifest({ id: other.id, disputed: true }).ok();
    expect(data.disputed).toEqual([]);
  });
});
