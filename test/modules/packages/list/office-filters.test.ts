import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { exportPackages, linesOf } from '../export/export-calls.js';
import { idsOf, makePackageList } from './listed-packages.js';

const { IEX, HRB } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;
const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
const shown = (time: string): string => time.slice(0, 19).replace('T', ' ');

const fixture = withService();
const { api, db } = fixture;
const { addPackages, expectSelected, list, rowsWhere } = makePackageList(fixture);

/** The ids of the packages of this file that a list returns, in its order. */
const found = async (as: string, body: object) => idsOf(await list(as, { shipper: 'Office', ...body }));

describe('filters of the office', () => {
  test('status selects several statuses, and each alone', async () => {
    await addPackages([{ status: 'lost' }, { status: 'on_hold', courier_id: IEX }]);
    for (const statuses of [['lost'], ['delivered', 'on_hold'], ['received', 'shipped', 'in_transit']]) {
      const text = statuses.map((status) => `'${status}'`).join(', ');
      expect(await expectSelected('admin', { status: statuses }, `status in (${text})`)).toBeGreaterThan(0);
    }
    // Clients that are generated for Java send an empty list for one that is not set.
    await expectSelected('iex', { status: [] }, `courier_id = '${IEX}'`);
    await expectSelected('iex', { status: ['received'] }, `courier_id = '${IEX}' and status = 'received'`);
  });

  test.each([
    ['none', 'courier_id is null'],
    ['courier', 'courier_id is not null and user_code is null'],
    ['customer', 'user_code is not null'],
  ])('owner %s selects what is known of the owner', async (owner, condition) => {
    expect(await expectSelected('warehouse', { owner }, condition)).toBeGreaterThan(0);
    await expectSelected('iex', { owner }, `courier_id = '${IEX}' and ${condition}`);
  });

  test('manifest_id and on_manifest select the packages of one manifest, of any and of none', async () => {
    const id = DEMO.manifests.draft;
    expect(await expectSelected('admin', { manifest_id: id }, `manifest_id = '${id}'`)).toBeGreaterThan(0);
    expect(await expectSelected('admin', { on_manifest: true }, 'manifest_id is not null')).toBeGreaterThan(
      0,
    );
    expect(await expectSelected('admin', { on_manifest: false }, 'manifest_id is null')).toBeGreaterThan(0);
    await expectSelected('hrb', { manifest_id: id }, `manifest_id = '${id}' and courier_id = '${HRB}'`);
  });

  test('location selects the packages of a place for staff, and none for their courier', async () => {
    const [here, there] = await addPackages([
      { tracking_number: 'PLACE-1', courier_id: IEX, user_code: 'IEX-1001' },
      { tracking_number: 'PLACE-2', courier_id: IEX, user_code: 'IEX-1001' },
    ]);
    const insert =
      'insert into parcel_positions (tenant_id, parcel_key, scan, location) values ($1, $2, $2, $3)';
    await db.query(insert, [TENANT, 'PLACE-1', 'Z-9']);
    await db.query(insert, [TENANT, 'PLACE-2', 'Z-10']);
    expect(idsOf(await list('admin', { location: 'Z-9' }))).toEqual([here]);
    expect(idsOf(await list('admin', { location: 'Z-10' }))).toEqual([there]);
    for (const location of ['Z', 'z-9']) expect(idsOf(await list('admin', { location }))).toEqual([]);
    expect(idsOf(await list('iex', { location: 'Z-9' }))).toEqual([]);
  });

  test('min_age_days selects what has been in the warehouse so long, and leaves out what has left', async () => {
    const shipped = DEMO.manifests.shipped;
    const add = async (fields: object) => {
      const [id] = await addPackages([
        { shipper: 'Office', courier_id: IEX, user_code: 'IEX-1001', ...fields },
      ]);
      return id;
    };
    const old = await add({ received_at: daysAgo(30.1) });
    const held = await add({ received_at: daysAgo(31), status: 'on_hold' });
    await add({ received_at: daysAgo(29.9) });
    await add({ received_at: daysAgo(40), status: 'delivered' });
    await add({ received_at: daysAgo(40), status: 'on_hold', manifest_id: shipped });
    const left = await add({ received_at: daysAgo(40), manifest_id: shipped });
    expect(await found('admin', { min_age_days: 30 })).toEqual([old, held, left]);
    expect(await found('iex', { min_age_days: 31, sort_dir: 'ASC' })).toEqual([left, held]);
    expect(await found('hrb', { min_age_days: 30 })).toEqual([]);
    expect(await found('admin', { min_age_days: 0 })).toHaveLength(4);
  });

  test('changed_since includes the second, and refuses a time that does not exist', async () => {
    const moment = '2030-05-05T10:00:00Z';
    const at = (updated_at: string) => ({ shipper: 'Changed', courier_id: IEX, updated_at });
    const [, exact, later] = await addPackages([
      at('2030-05-05T09:59:59.999Z'),
      at(moment),
      at('2030-05-06T00:00:00Z'),
    ]);
    const body = { shipper: 'Changed', changed_since: shown(moment) };
    expect(idsOf(await list('admin', body)).sort()).toEqual([exact, later].sort());
    for (const changed_since of ['2030-02-30 00:00:00', '2030-01-01 24:00:00', '2030-01-01'])
      await api.as('admin').listPackages(unchecked({ changed_since })).refused(400, 'validation_failed');
  });

  test('billed selects by the bill lines of 31 days, and a draft is no bill for its courier', async () => {
    const received_at = '2018-03-03T12:00:00Z';
    const own = { shipper: 'Billed', courier_id: IEX, user_code: 'IEX-1001' };
    const [billed] = await addPackages([{ ...own, received_at }]);
    const period = { entryDateFloor: '2018-03-03', entryDateCeiling: '2018-03-03' };
    const manager = api.as('manager');
    const [start_date, end_date] = [period.entryDateFloor, period.entryDateCeiling];
    const draft = {
      action: 'create_draft',
      courier_id: IEX,
      service_type: 'air',
      start_date,
      end_date,
    } as const;
    const { bill_id } = (await manager.manageCourierBills(draft).succeeded()).data;
    const [open, outside] = await addPackages([
      { ...own, received_at: '2018-03-03T13:00:00Z' },
      { ...own, received_at: '2018-04-03T00:00:00Z' },
    ]);
    const select = async (as: string, body: object) => idsOf(await list(as, { shipper: 'Billed', ...body }));
    expect(await select('admin', { billed: true, ...period })).toEqual([billed]);
    expect(await select('admin', { billed: false, ...period })).toEqual([open]);
    expect(await select('iex', { billed: true, ...period })).toEqual([]);
    expect(await select('iex', { billed: false, ...period })).toEqual([open, billed]);
    await manager.manageCourierBills({ action: 'publish', bill_id }).ok();
    expect(await select('iex', { billed: true, ...period })).toEqual([billed]);
    // Without an end, the period is as long as it may be.
    expect(await select('admin', { billed: false, entryDateFloor: '2018-03-03' })).toEqual([open]);
    expect(await select('admin', { billed: false, entryDateFloor: '2018-03-04' })).toEqual([outside]);
    const long = { billed: true, entryDateFloor: '2018-03-01', entryDateCeiling: '2018-04-01' };
    for (const body of [{ billed: true }, long])
      await api.as('admin').listPackages(unchecked(body)).refused(400, 'validation_failed');
    await api.as('admin').exportPackagesCsv(long).refused(400, 'validation_failed');
    await api.as('admin').exportPackagesXlsx(long).refused(400, 'validation_failed');
    await api.as('admin').queueDispatch(unchecked(long)).refused(400, 'validation_failed');
  });
});

describe('q', () => {
  let ids: string[];
  const person = { courier_id: IEX, user_code: 'IEX-7777', first_name: 'Zöe', last_name: 'Quin-Li' };
  beforeAll(async () => {
    ids = await addPackages([
      { ...person, tracking_number: '9400111899223100007777', house_number: 'QQ2QQQW' },
      { courier_id: IEX, tracking_number: 'MASKED-QZ-5678', house_number: 'QQ3QQQW' },
      { courier_id: HRB, user_code: 'HRB-7777', first_name: 'Al', last_name: 'Qu', tracking_number: 'AL-1' },
    ]);
  });

  test.each([
    ['a part of the tracking number', '3100007777', 0],
    ['the carrier’s whole barcode', '420331269400111899223100007777', 0],
    ['the house number in small letters', 'qq2qqqw', 0],
    ['the user code in small letters', 'iex-7777', 0],
    ['both names in either order', 'quin-li zöe', 0],
    ['a part of the last name', 'uin-L', 0],
    ['a short first and last name', 'al qu', 2],
  ])('finds %s', async (_name, q, index) => {
    expect(idsOf(await list('admin', { q }))).toEqual([ids[index]]);
    const owner = index === 2 ? 'hrb' : 'iex';
    expect(idsOf(await list(owner, { q }))).toEqual([ids[index]]);
    expect(idsOf(await list(owner === 'iex' ? 'hrb' : 'iex', { q }))).toEqual([]);
  });

  test('finds a masked number for its courier by the visible end only, and by its house number', async () => {
    for (const q of ['MASKED', 'MASKED-QZ-5678', 'QZ-5678', '-5678'])
      expect(idsOf(await list('iex', { q }))).toEqual([]);
    for (const q of ['5678', 'QQ3QQQW']) expect(idsOf(await list('iex', { q }))).toContain(ids[1]);
    expect(idsOf(await list('admin', { q: 'MASKED-QZ' }))).toEqual([ids[1]]);
  });

  test('needs every word, takes wildcards literally, and combines with other filters', async () => {
    for (const q of ['zöe nobody', '%%%', '___', 'iex_7777'])
      expect(idsOf(await list('admin', { q }))).toEqual([]);
    expect(idsOf(await list('admin', { q: 'zöe', courierID: HRB }))).toEqual([]);
    expect(idsOf(await list('admin', { q: 'zöe', owner: 'customer', courierID: IEX }))).toEqual([ids[0]]);
    await api.as('admin').listPackages({ q: ' zö ' }).refused(400, 'validation_failed');
  });
});

describe('totals and order', () => {
  test('count at most 10,000 with such a filter, and reach as many packages', async () => {
    const many = Array.from({ length: 10_001 }, () => ({
      shipper: 'Many',
      courier_id: IEX,
      user_code: 'IEX-1001',
      first_name: 'Manifold',
      status: 'returned',
    }));
    await addPackages(many);
    const { meta, message } = await list('admin', {
      shipper: 'Many',
      status: ['returned'],
      limit: 25,
      page: 400,
    });
    expect(meta).toMatchObject({ total_count: 10_000, total_is_exact: false, total_pages: 400 });
    expect(message).toBe('More than 10000 packages found.');
    expect((await list('admin', { shipper: 'Many', limit: 25, page: 401 })).meta).toMatchObject({
      total_count: 10_001,
      total_is_exact: true,
      total_pages: 401,
    });
    for (const body of [{ status: ['returned'] }, { sort_by: 'weight' }, { sort_dir: 'ASC' }]) {
      const refused = api.as('admin').listPackages(unchecked({ ...body, limit: 25, page: 401 }));
      expect((await refused.refused(400, 'validation_failed')).errors).toMatchObject([{ field: 'page' }]);
    }
  }, 120_000);

  test('of a text that more than 10,000 packages have, the newest 500 are found', async () => {
    const [old, newest] = await addPackages([
      { first_name: 'Manifold', courier_id: IEX, received_at: '2001-01-01T00:00:00Z' },
      { first_name: 'Manifold', courier_id: IEX, received_at: '2024-01-01T00:00:00Z' },
    ]);
    for (const as of ['admin', 'iex']) {
      const { data, meta } = await list(as, { q: 'manifold', limit: 10_000 });
      expect([data.length, meta.total_count, meta.total_is_exact]).toEqual([500, 500, true]);
      expect(idsOf({ data })[0]).toBe(newest);
      expect(idsOf({ data })).not.toContain(old);
    }
    expect(idsOf(await list('hrb', { q: 'manifold' }))).toEqual([]);
  });

  test('a file has the order of the list, and the packages of its filters', async () => {
    const query = { owner: 'courier', status: 'received', limit: 10_000 } as const;
    const expected = await rowsWhere("courier_id is not null and user_code is null and status = 'received'");
    const ids = (file: { bytes: Buffer }) =>
      linesOf(file, 'csv')
        .slice(1)
        .map(([, id]) => id);
    expect(ids(await api.as('admin').exportPackagesCsv(query).ok())).toEqual(expected.map(({ id }) => id));
    const sorted = { owner: 'courier', status: ['received'], limit: 10_000, sort_by: 'house_number' };
    const { data } = await list('admin', sorted);
    expect(ids(await exportPackages(api, 'admin', 'csv', sorted).ok())).toEqual(idsOf({ data }));
  });

  test('a dispatch queues only what the filters select', async () => {
    const [id = ''] = await addPackages([{ shipper: 'Dispatched', courier_id: IEX, status: 'lost' }]);
    const body = { shipper: 'Dispatched', status: ['delivered'] };
    expect((await api.as('admin').queueDispatch(unchecked(body)).ok()).data.total_selected).toBe(0);
    const lost = { shipper: 'Dispatched', status: ['lost'] };
    expect((await api.as('admin').queueDispatch(unchecked(lost)).ok()).data.total_selected).toBe(1);
    expect(idsOf(await list('admin', lost))).toEqual([id]);
  });
});

test('the response names what was ignored: another name of a filter would otherwise look like one', async () => {
  const { message } = await api
    .as('iex')
    .listPackages(unchecked({ from: '2026-11-30', limit: 1 }))
    .ok();
  expect(message).toContain('Ignored, because the operation has no such fields: from.');
  expect((await api.as('iex').listPackages({ limit: 1 }).ok()).message).not.toContain('Ignored');
});

test('a page that cannot be reached is refused with the reason', async () => {
  const { errors } = await api
    .as('iex')
    .listPackages({ status: ['received'], limit: 500, page: 21 })
    .refused(400, 'validation_failed');
  expect(errors).toMatchObject([
    { field: 'page', code: 'maximum', message: expect.stringContaining('only the first 10,000 packages') },
  ]);
});
