import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber, shipPackages } from '../../../support/builders/parcels.js';
import { withService, type Fixture } from '../../../support/fixture/with-service.js';
import { makePackageList } from '../list/listed-packages.js';

const { IEX, HRB } = DEMO.couriers;
const PERIOD = { from: '2016-03-07', to: '2016-03-09' };
const NONE = { shipped: 0, shipped_weight: 0, announced: 0, unknown: 0, unknown_weight: 0 };
const ON_IEX = { courier_id: IEX, user_code: 'IEX-1001' };
const ON_HRB = { courier_id: HRB, user_code: 'HRB-2001' };

type PlantedEvent = { at: string; status?: string; source?: string; user?: string; weight?: number };

function makeWork(fixture: Fixture) {
  const { api, db } = fixture;
  const { addPackages } = makePackageList(fixture);
  const tenantId = DEMO.tenants.demo;

  /** Plants an event of a package, by the warehouse user. */
  const addEvent = (packageId: string | undefined, event: PlantedEvent) =>
    db.query(
      `insert into package_events (tenant_id, id, package_id, courier_id, previous_status, status, actor_user_id, occurred_at,
         recorded_at, source, previous_weight_lb, weight_lb)
       select tenant_id, $2, id, courier_id, case when $6 <> 'intake' then 'on_hold' end, $3, $4, $5, $5, $6, $7::numeric + 1, $7
       from packages where id = $1`,
      [
        packageId,
        randomUUID(),
        event.status ?? 'received',
        event.user ?? DEMO.users.warehouse,
        event.at,
        event.source ?? 'intake',
        event.weight ?? null,
      ],
    );

  /** Plants a manifest with a package and the entry of its shipment, by default by the warehouse user. */
  const addShipment = async (packageId: string | undefined, at: string, user = DEMO.users.warehouse) => {
    const manifest = randomUUID();
    await db.query(
      `insert into manifests (tenant_id, id, manifest_number, status, warehouse_id)
       select tenant_id, $2, $3, 'shipped', warehouse_id from packages where id = $1`,
      [packageId, manifest, `MAN-20160301-${manifest.slice(0, 4).toUpperCase()}`],
    );
    await db.query('update packages set manifest_id = $2 where id = $1', [packageId, manifest]);
    const steps = ['ready', 'shipped', 'completed'];
    for (const [index, status] of steps.entries())
      await db.query(
        `insert into audit_entries (tenant_id, id, at, actor_kind, actor_id, action, entity, entity_id, before, after, request_id)
         values ($1, new_id(), $2::timestamptz + ($3::int - 1) * interval '1 hour', 'user', $4, 'manifest.status_changed', 'manifest',
           $5, '{}', jsonb_build_object('status', $6::text), 'work')`,
        [tenantId, at, index, user, manifest, status],
      );
  };

  const addPrealert = (courierId: string, userCode: string, createdAt: string) => {
    const number = newNumber();
    return db.query(
      `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, created_at)
       values ($1, $2, $3, $4, $5, $5, $6)`,
      [tenantId, randomUUID(), courierId, userCode, number, createdAt],
    );
  };

  const addLoad = (parcelKey: string, load: { at: string; user?: string; outcome?: string; kind?: string }) =>
    db.query(
      `insert into scans (tenant_id, id, station, kind, scanned_at, arrived_at, user_id, scan, parcel_key, details, content_hash,
         manifest_id, outcome, reason)
       values ($1, $2, 'belt', $3, $4, $4, $5, $6, $6, '{}', 'h', $7, $8, case when $8 = 'conflict' then 'already_received' end)`,
      [
        tenantId,
        randomUUID(),
        load.kind ?? 'load',
        load.at,
        load.user ?? DEMO.users.warehouse,
        parcelKey,
        DEMO.manifests.draft,
        load.outcome ?? 'done',
      ],
    );

  const read = async (as: string, query: object = {}) =>
    (
      await api
        .as(as)
        .getWorkStatistics({ ...PERIOD, ...query })
        .ok()
    ).data;

  return { addPackages, addEvent, addShipment, addPrealert, addLoad, read };
}

/** Plants the work of March 2016, and some beside it on each side. */
async function plant({
  addPackages,
  addEvent,
  addShipment,
  addPrealert,
  addLoad,
}: ReturnType<typeof makeWork>) {
  const received_at = '2016-03-01T00:00:00Z';
  const [iex, hrb, early, late] = await addPackages([
    { ...ON_IEX, received_at, weight_lb: 1.1, status: 'shipped', tracking_number: 'WORK-IEX' },
    { ...ON_HRB, received_at, weight_lb: 2.2, status: 'shipped', tracking_number: 'WORK-HRB' },
    { ...ON_IEX, received_at, weight_lb: 4, status: 'shipped' },
    { ...ON_IEX, received_at, weight_lb: 4, status: 'on_hold' },
    // Without a customer: on the first day, on the last one, of a courier, and beside the period.
    { courier_id: null, user_code: null, received_at: '2016-03-07T00:00:00Z', weight_lb: 0.1 },
    { courier_id: IEX, user_code: null, received_at: '2016-03-09T23:59:59.999Z', weight_lb: 0.2 },
    { courier_id: null, user_code: null, received_at: '2016-03-10T00:00:00Z', weight_lb: 100 },
  ]);
  // The other steps of each manifest are an hour earlier and later.
  await addShipment(iex, '2016-03-07T00:00:00Z');
  await addShipment(hrb, '2016-03-09T23:59:59.999Z', DEMO.users.manager);
  await addShipment(early, '2016-03-06T23:59:59.999Z');
  await addShipment(late, '2016-03-10T00:00:00Z');
  // Receipts; one with a weight says that another receipt changed it.
  await addEvent(iex, { at: '2016-03-07T09:00:00Z' });
  await addEvent(hrb, { at: '2016-03-08T09:00:00Z' });
  await addEvent(hrb, { at: '2016-03-08T10:00:00Z', weight: 3 });
  await addEvent(hrb, { at: '2016-03-08T11:00:00Z', status: 'customs_hold', source: 'recorded' });
  for (const at of ['2016-03-07T10:00:00Z', '2016-03-08T10:00:00Z']) await addLoad('WORK-IEX', { at });
  await addLoad('WORK-HRB', { at: '2016-03-08T10:00:00Z' });
  await addLoad('WORK-HRB', { at: '2016-03-10T00:00:00Z', user: DEMO.users.manager });
  await addLoad('WORK-HRB', { at: '2016-03-08T10:00:00Z', user: DEMO.users.manager, outcome: 'conflict' });
  await addLoad('WORK-HRB', { at: '2016-03-08T10:00:00Z', user: DEMO.users.manager, kind: 'unload' });
  await addPrealert(IEX, 'IEX-1001', '2016-03-08T01:00:00Z');
  await addPrealert(HRB, 'HRB-2001', '2016-03-08T02:00:00Z');
  await addPrealert(HRB, 'HRB-2001', '2016-03-06T23:59:59Z');
  await addPrealert(HRB, 'HRB-2001', '2016-03-10T00:00:00Z');
}

describe('getWorkStatistics', () => {
  const fixture = withService();
  const { api, db } = fixture;
  const work = makeWork(fixture);
  beforeAll(() => plant(work));

  test('sums what was shipped, announced and received without a customer, per day with both included', async () => {
    const { from, to, total, days } = await work.read('manager');
    expect({ from, to }).toEqual(PERIOD);
    expect(days).toEqual([
      { date: '2016-03-07', ...NONE, shipped: 1, shipped_weight: 1.1, unknown: 1, unknown_weight: 0.1 },
      { date: '2016-03-08', ...NONE, announced: 2 },
      { date: '2016-03-09', ...NONE, shipped: 1, shipped_weight: 2.2, unknown: 1, unknown_weight: 0.2 },
    ]);
    expect(total).toEqual({
      shipped: 2,
      shipped_weight: 3.3,
      announced: 2,
      unknown: 2,
      unknown_weight: 0.3,
    });
  });

  test('names the couriers by code, and packages without one last', async () => {
    const { couriers } = await work.read('admin');
    const named = (id: string | null, code: string | null, name: string | null) => ({
      courier_id: id,
      courier_code: code,
      courier_name: name,
    });
    expect(couriers).toEqual([
      { ...named(HRB, 'HRB', 'Harbour Couriers'), ...NONE, shipped: 1, shipped_weight: 2.2, announced: 1 },
      {
        ...named(IEX, 'IEX', 'Island Express'),
        shipped: 1,
        shipped_weight: 1.1,
        announced: 1,
        unknown: 1,
        unknown_weight: 0.2,
      },
      { ...named(null, null, null), ...NONE, unknown: 1, unknown_weight: 0.1 },
    ]);
  });

  test('counts per person receipts, weights, loaded parcels once, and shipped packages', async () => {
    const { people } = await work.read('manager');
    expect(people).toEqual([
      {
        user_id: DEMO.users.warehouse,
        username: 'warehouse',
        full_name: expect.any(String),
        role: 'warehouse',
        received: 2,
        weighed: 2,
        loaded: 2,
        shipped: 1,
      },
      expect.objectContaining({ username: 'manager', received: 0, weighed: 0, loaded: 0, shipped: 1 }),
    ]);
  });

  test('courier_id selects the packages of one courier, also in the work of people', async () => {
    const { total, couriers, people } = await work.read('manager', { courier_id: HRB });
    expect(total).toEqual({ ...NONE, shipped: 1, shipped_weight: 2.2, announced: 1 });
    expect(couriers.map(({ courier_code }) => courier_code)).toEqual(['HRB']);
    expect(people.map((row) => [row.username, row.received, row.weighed, row.loaded, row.shipped])).toEqual([
      ['warehouse', 1, 1, 1, 0],
      ['manager', 0, 0, 0, 1],
    ]);
    expect((await work.read('manager', { courier_id: DEMO.couriers.TWO })).people).toEqual([]);
  });

  test('counts what people do through the API', async () => {
    const today = () => new Date().toISOString().slice(0, 10);
    const from = today();
    const ofUser = async (name: string) => {
      const { people } = (await api.as('admin').getWorkStatistics({ from, to: today() }).ok()).data;
      const row = people.find(({ username }) => username === name);
      return [row?.received ?? 0, row?.weighed ?? 0, row?.loaded ?? 0, row?.shipped ?? 0];
    };
    const before = { warehouse: await ofUser('warehouse'), manager: await ofUser('manager') };
    const grown = async (name: 'warehouse' | 'manager') =>
      (await ofUser(name)).map((count, index) => count - (before[name][index] ?? 0));
    const receive = async () =>
      (await api.as('warehouse').receivePackage({ tracking_number: newNumber(), weight: 2 }).created()).data
        .package_id;
    const packages = [await receive(), await receive()];
    const [first = ''] = packages;
    await api.as('manager').updatePackage({ package_id: first, weight: 3 }).ok();
    await api.as('manager').updatePackage({ package_id: first, description: 'Shoes' }).ok();
    await shipPackages(api, packages);
    // A release repeats the status.
    for (const status of ['on_hold', 'released'] as const)
      await api.as('warehouse').recordPackageEvent({ package_id: first, status }).ok();
    expect(await grown('warehouse')).toEqual([2, 2, 0, 2]);
    expect(await grown('manager')).toEqual([0, 1, 0, 0]);
    const rows = await db.query("select 1 from audit_entries where action = 'package.updated'");
    expect(rows.length).toBeGreaterThanOrEqual(2);
  });

  test('a package that is on hold or in transit when its manifest is shipped has left with it', async () => {
    const day = new Date().toISOString().slice(0, 10);
    const shipped = async () =>
      (await api.as('admin').getWorkStatistics({ from: day, to: day }).ok()).data.total.shipped;
    const before = await shipped();
    const staff = api.as('warehouse');
    const receive = async () =>
      (await staff.receivePackage({ tracking_number: newNumber(), weight: 2 }).created()).data.package_id;
    const [held, moved] = [await receive(), await receive()];
    const { manifest_id } = (await staff.createManifest({}).ok()).data;
    await staff.manageManifest({ action: 'add_packages', manifest_id, package_ids: [held, moved] }).ok();
    await staff.recordPackageEvent({ package_id: held, status: 'on_hold' }).ok();
    await staff.recordPackageEvent({ package_id: moved, status: 'in_transit' }).ok();
    for (const status of ['ready', 'shipped'] as const)
      await staff.manageManifest({ action: 'update_meta', manifest_id, status }).ok();
    expect(await shipped()).toBe(before + 2);
  });

  test('refuses a period that is missing, reversed or longer than 31 days, and who may not see people', async () => {
    const refused = (query: { from: string | undefined; to: string }) =>
      api.as('admin').getWorkStatistics(query).refused(400, 'validation_failed');
    await refused({ from: undefined, to: '2026-01-01' });
    await refused({ from: '2026-01-02', to: '2026-01-01' });
    await refused({ from: '2026-01-01', to: '2026-02-01' });
    await api.as('admin').getWorkStatistics({ from: '2026-01-01', to: '2026-01-31' }).ok();
    for (const user of ['warehouse', 'iex'])
      await api.as(user).getWorkStatistics(PERIOD).refused(403, 'permission_denied');
    await api.anonymous.getWorkStatistics(PERIOD).refused(401, 'token_missing');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('getWorkStatistics with %s', (_name, options) => {
  const work = makeWork(withService(options));

  test('counts for a tenant nothing of another one', async () => {
    const before = await work.read('two/admin');
    await plant(work);
    expect(await work.read('two/admin')).toEqual(before);
    expect(before.people).toEqual([]);
    expect((await work.read('admin')).total.shipped).toBe(2);
  });
});
