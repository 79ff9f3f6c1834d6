import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makePackageList } from '../list/listed-packages.js';

const { IEX, HRB } = DEMO.couriers;
const PERIOD = { from: '2016-03-07', to: '2016-03-16' };
const DAY_MS = 86_400_000;
const at = (received_at: string, weight_lb: number, fields: object = {}) => ({
  courier_id: IEX,
  user_code: 'IEX-1001',
  status: 'delivered',
  received_at,
  weight_lb,
  ...fields,
});
// The two periods overlap: the days from March 7 to 9 are in both.
const ROWS = [
  at('2016-02-28T23:59:59.999Z', 100),
  at('2016-02-29T00:00:00Z', 1.125),
  at('2016-03-07T00:00:00Z', 2.25, { status: 'lost' }),
  at('2016-03-09T23:59:59.999Z', 3.1),
  at('2016-03-10T12:30:00Z', 4.2, { courier_id: HRB, user_code: 'HRB-2001' }),
  at('2016-03-16T23:00:00Z', 5, { courier_id: null, user_code: null }),
  at('2016-03-17T00:00:00Z', 100),
];

describe('getPackageStatistics', () => {
  const fixture = withService();
  const { api, db } = fixture;
  const { addPackages } = makePackageList(fixture);
  const read = async (as: string, query: object = {}) =>
    (
      await api
        .as(as)
        .getPackageStatistics({ ...PERIOD, ...query })
        .ok()
    ).data;
  beforeAll(async () => {
    await addPackages(ROWS);
  });

  test('sums the packages of the days, both included, and of the same days a week before', async () => {
    const { total, total_before, from_before, to_before, days, hours, statuses } = await read('admin');
    expect([from_before, to_before]).toEqual(['2016-02-29', '2016-03-09']);
    expect(total).toEqual({ count: 4, weight: 14.55 });
    expect(total_before).toEqual({ count: 3, weight: 6.475 });
    expect(days.map(({ date }) => Number(date.slice(8)))).toEqual([7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    const none = { count: 0, weight: 0, count_before: 0, weight_before: 0 };
    expect(days[0]).toEqual({
      date: '2016-03-07',
      count: 1,
      weight: 2.25,
      count_before: 1,
      weight_before: 1.125,
    });
    expect(days[1]).toEqual({ date: '2016-03-08', ...none });
    expect(days[7]).toEqual({ date: '2016-03-14', ...none, count_before: 1, weight_before: 2.25 });
    expect(days[9]).toEqual({ date: '2016-03-16', count: 1, weight: 5, count_before: 1, weight_before: 3.1 });
    expect(hours).toHaveLength(24);
    expect(hours.filter(({ count }) => count > 0)).toEqual([
      { hour: 0, count: 1, weight: 2.25 },
      { hour: 12, count: 1, weight: 4.2 },
      { hour: 23, count: 2, weight: 8.1 },
    ]);
    expect(statuses).toEqual([
      { status: 'delivered', count: 3, weight: 12.3 },
      { status: 'lost', count: 1, weight: 2.25 },
    ]);
  });

  test('names the couriers by code, and packages without one last', async () => {
    const { couriers } = await read('warehouse');
    expect(
      couriers.map((row) => [row.courier_code, row.count, row.weight, row.count_before, row.weight_before]),
    ).toEqual([
      ['HRB', 1, 4.2, 0, 0],
      ['IEX', 2, 5.35, 3, 6.475],
      [null, 1, 5, 0, 0],
    ]);
    expect(couriers[1]).toMatchObject({ courier_id: IEX, courier_name: 'Island Express' });
  });

  test('courier_id selects for staff, and is ignored for a courier', async () => {
    expect((await read('manager', { courier_id: HRB })).total).toEqual({ count: 1, weight: 4.2 });
    expect((await read('iex', { courier_id: HRB })).total).toEqual({ count: 2, weight: 5.35 });
    expect((await read('admin', { courier_id: DEMO.couriers.TWO })).total.count).toBe(0);
  });

  test('counts what has not left per age, and agrees with the list by min_age_days', async () => {
    const shipped = { status: 'on_hold', manifest_id: DEMO.manifests.shipped };
    const ago = (days: number, fields: object) =>
      at(new Date(Date.now() - days * DAY_MS).toISOString(), 1, { status: 'received', ...fields });
    const before = (await read('hrb')).in_warehouse;
    const own = { courier_id: HRB, user_code: 'HRB-2001' };
    await addPackages([
      ago(400, own),
      ago(8, own),
      ago(8, { ...own, ...shipped }),
      ago(8, { ...own, status: 'lost' }),
    ]);
    const { in_warehouse } = await read('hrb');
    const added = in_warehouse.ages.map(({ count }, index) => count - (before.ages[index]?.count ?? 0));
    expect(added).toEqual([0, 0, 1, 0, 0, 1]);
    expect(in_warehouse.ages.map(({ min_days, max_days }) => [min_days, max_days])).toEqual([
      [0, 1],
      [2, 6],
      [7, 13],
      [14, 29],
      [30, 59],
      [60, null],
    ]);
    const [{ oldest } = { oldest: null }] = await db.query<{ oldest: string }>(
      `select to_char(min(received_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as oldest from packages
       where courier_id = $1 and status = 'received'`,
      [HRB],
    );
    expect(in_warehouse.oldest).toBe(oldest);
    expect(in_warehouse.ages.reduce((sum, { count }) => sum + count, 0)).toBe(in_warehouse.count);
    const all = await read('admin');
    for (const { min_days } of all.in_warehouse.ages) {
      const older = all.in_warehouse.ages.filter((age) => age.min_days >= min_days);
      const { meta } = await api.as('admin').listPackages({ min_age_days: min_days }).ok();
      expect(meta.total_count).toBe(older.reduce((sum, { count }) => sum + count, 0));
    }
  });

  test('the first and the last day that a date can name are a period', async () => {
    for (const day of ['0001-01-01', '9999-12-31']) {
      const { data } = await api.as('manager').getPackageStatistics({ from: day, to: day }).ok();
      expect([data.days.length, data.total.count, data.from_before <= day]).toEqual([1, 0, true]);
    }
  });

  test('refuses a period that is missing, reversed or longer than 31 days', async () => {
    const refused = (query: { from: string | undefined; to: string }) =>
      api.as('admin').getPackageStatistics(query).refused(400, 'validation_failed');
    await refused({ from: undefined, to: '2026-01-01' });
    await refused({ from: '2026-01-02', to: '2026-01-01' });
    await refused({ from: '2026-01-01', to: '2026-02-01' });
    await api.as('admin').getPackageStatistics({ from: '2026-01-01', to: '2026-01-31' }).ok();
    await api.anonymous.getPackageStatistics(PERIOD).refused(401, 'token_missing');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('getPackageStatistics with %s', (_name, options) => {
  const fixture = withService(options);
  const { addPackages } = makePackageList(fixture);
  const read = async (as: string) => (await fixture.api.as(as).getPackageStatistics(PERIOD).ok()).data;

  test('counts for a courier nothing of another one, and for a tenant nothing of another one', async () => {
    const [courier, tenant] = [await read('hrb'), await read('two/admin')];
    await addPackages([
      ...ROWS.filter(({ courier_id }) => courier_id !== HRB),
      at(new Date().toISOString(), 1, { status: 'received' }),
    ]);
    expect(await read('hrb')).toEqual(courier);
    expect(await read('two/admin')).toEqual(tenant);
    expect((await read('iex')).couriers).toMatchObject([{ courier_id: IEX, count: 2 }]);
  });
});
