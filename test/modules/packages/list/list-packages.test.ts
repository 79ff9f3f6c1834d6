import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { demoId } from '../../../../fixtures/demo/values/ids.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { moveDatabaseTo } from '../../../support/harness/database-zone.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makePackageList, idsOf, AWKWARD } from './listed-packages.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const ZONES = ['UTC', 'America/Jamaica', 'America/New_York', 'Pacific/Kiritimati', 'Asia/Kolkata'];
// The two days of 2025 on which New York changed its clocks, and a leap day.
const DAYS = ['2025-03-09', '2025-11-02', '2024-02-29'];

const fixture = withService();
const { api, db, service } = fixture;
const { rowsWhere, list, expectSelected, addPackages } = makePackageList(fixture);
beforeAll(async () => {
  await addPackages(AWKWARD);
}, 60_000);

describe('pages of packages', () => {
  test('returns the newest 25 with the totals of all if there is no body', async () => {
    const all = await rowsWhere('true');
    const reply = await list('admin');
    expect(idsOf(reply)).toEqual(all.slice(0, 25).map(({ id }) => id));
    const thousandths = all.reduce((sum, { weight_lb }) => sum + BigInt(weight_lb.replace('.', '')), 0n);
    expect(reply.meta).toEqual({
      total_count: all.length,
      page: 1,
      limit: 25,
      total_pages: Math.ceil(all.length / 25),
      total_weight: Number(thousandths) / 1000,
      total_is_exact: true,
    });
    expect(reply.message).toBe(`${all.length} packages found.`);
    expect((await list('admin', {})).data).toEqual(reply.data);
  });

  test('contain each package exactly once', async () => {
    const all = await rowsWhere('true');
    const pages = await Promise.all(
      Array.from({ length: Math.ceil(all.length / 60) }, (_, index) =>
        list('admin', { page: index + 1, limit: 60 }),
      ),
    );
    expect(pages.flatMap(idsOf)).toEqual(all.map(({ id }) => id));
    expect(pages.at(-1)?.meta.total_pages).toBe(pages.length);
  });

  test('return an empty page with totals past the last page', async () => {
    const { data, meta } = await list('admin', { page: 1_000_000, limit: 10_000 });
    expect(data).toEqual([]);
    expect(meta.total_count).toBeGreaterThan(500);
  });

  test('use singular and plural in the message', async () => {
    const [row] = await rowsWhere("shipper = 'a_b'");
    const one = await list('admin', { houseNumber: row?.house_number });
    expect([one.message, one.meta.total_pages]).toEqual(['1 package found.', 1]);
    const none = await list('admin', { houseNumber: 'NONE' });
    expect(none.message).toBe('0 packages found.');
    expect(none.meta).toEqual({
      total_count: 0,
      total_weight: 0,
      total_is_exact: true,
      page: 1,
      limit: 25,
      total_pages: 0,
    });
  });

  test('return the names of courier, carrier and manifest', async () => {
    const id = DEMO.packages.aboardDraft.IEX[0];
    const [row] = await rowsWhere(`id = '${id}'`);
    if (!row) throw new Error(`There is no package ${id}.`);
    const manifest = await db.manifest(DEMO.manifests.draft);
    const carrier = await db.one('carriers', { id: row.carrier_id ?? '' });
    expect((await list('admin', { houseNumber: row.house_number })).data).toEqual([
      {
        package_id: id,
        tracking_number: row.tracking_number,
        house_number: row.house_number,
        user_code: row.user_code,
        first_name: row.first_name,
        last_name: row.last_name,
        weight: Number(row.weight_lb),
        shipper: row.shipper,
        description: row.description,
        status: 'received',
        courier_name: 'Island Express',
        entry_date_time: row.received_at.toISOString().slice(0, 19).replace('T', ' '),
        entry_date_time_utc: `${row.received_at.toISOString().slice(0, 19)}Z`,
        prealert_id: null,
        reference: null,
        carrier_name: carrier.name,
        manifest_number: manifest.manifest_number,
      },
    ]);
  });
});

describe('package filters', () => {
  const TEXTS = [
    '%',
    '_',
    '\\',
    'a_b',
    'A_B',
    '0%',
    'back\\slash',
    "o'n",
    'éT',
    '50%_\\x',
    'wool',
    'zz',
    ' ',
    '%%',
    '\\%',
  ];

  test.each([
    ['trackingNumber', 'tracking_number'],
    ['shipper', 'shipper'],
    ['firstName', 'first_name'],
    ['lastName', 'last_name'],
  ] as const)('%s matches the literal text in either case', async (filter, column) => {
    const all = await rowsWhere('true');
    for (const text of TEXTS) {
      // A filter is trimmed like every text, and a blank one selects everything.
      const wanted = text.trim().toLowerCase();
      const expected = all.filter((row) => (row[column] ?? '').toLowerCase().includes(wanted));
      const reply = await list('admin', { [filter]: text, limit: 10_000 });
      expect({ text, ids: idsOf(reply) }).toEqual({ text, ids: expected.map(({ id }) => id) });
    }
  });

  test('houseNumber and userCode match exactly', async () => {
    const [{ house_number } = { house_number: '' }] = await rowsWhere('true');
    expect(
      await expectSelected('admin', { houseNumber: house_number }, `house_number = '${house_number}'`),
    ).toBe(1);
    expect(await expectSelected('admin', { houseNumber: house_number.slice(1) }, 'false')).toBe(0);
    expect(await expectSelected('admin', { userCode: 'IEX-1001' }, "user_code = 'IEX-1001'")).toBeGreaterThan(
      0,
    );
    for (const userCode of ['iex-1001', 'IEX-100', 'IEX-100_', '%'])
      await expectSelected('admin', { userCode }, 'false');
  });

  test('courierID and carrierID filter for staff', async () => {
    const carrier = demoId('demo', 'carrier', 2);
    expect(await expectSelected('warehouse', { courierID: HRB }, `courier_id = '${HRB}'`)).toBeGreaterThan(0);
    expect(
      await expectSelected('manager', { carrierID: carrier }, `carrier_id = '${carrier}'`),
    ).toBeGreaterThan(0);
    expect(await expectSelected('admin', { courierID: TWO }, 'false')).toBe(0);
    expect(await expectSelected('admin', { carrierID: demoId('two', 'carrier', 2) }, 'false')).toBe(0);
  });

  test('combine with AND', async () => {
    const filters = { courierID: IEX, shipper: 'wool', userCode: 'IEX-1001' };
    expect(await expectSelected('admin', filters, "shipper = '100% Wool'")).toBe(1);
    expect(await expectSelected('admin', { ...filters, courierID: HRB }, 'false')).toBe(0);
  });

  test('are ignored if empty', async () => {
    const names = ['trackingNumber', 'houseNumber', 'userCode', 'shipper', 'firstName', 'lastName'];
    await expectSelected('admin', Object.fromEntries(names.map((name) => [name, ''])), 'true');
  });

  test.each([
    ...[0, -1, 1.5, '1', 1_000_001, 1e20, null].map((value) => ['page', value]),
    ...[0, -1, 10_001, '25', 2.5].map((value) => ['limit', value]),
    ...['2026-02-30', '2026-2-3', '21.11.2026', '0000-01-01', '', 20261121].map((value) => [
      'entryDateFloor',
      value,
    ]),
    ...['2025-02-29', '2026-11-21T00:00:00Z'].map((value) => ['entryDateCeiling', value]),
    ...['IEX', '', 1, ['x']].map((value) => ['courierID', value]),
    ...[7, ['x'], 'x'.repeat(256)].map((value) => ['trackingNumber', value]),
  ] as [string, unknown][])('rejects %s %j with 400 and names the field', async (field, value) => {
    const body = unchecked({ [field]: value });
    const { errors } = await api.as('admin').listPackages(body).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field }]);
  });
});

describe('date filters', () => {
  beforeAll(async () => {
    await addPackages(
      DAYS.flatMap((day) =>
        edgesOf(day).map((received_at) => ({ received_at, shipper: 'Edge', courier_id: IEX })),
      ),
    );
  });

  test.each(ZONES)(
    "select whole UTC days, both ends inclusive, while the database's time zone is %s",
    async (zone) => {
      await moveDatabaseTo(zone, service());
      const at = async (body: object) =>
        (await list('admin', { shipper: 'Edge', ...body })).data.map(
          ({ entry_date_time }) => entry_date_time,
        );
      for (const day of DAYS) {
        const [before, first, last, after] = edgesOf(day).map((moment) =>
          moment.slice(0, 19).replace('T', ' '),
        );
        expect(await at({ entryDateFloor: day, entryDateCeiling: day })).toEqual([last, first]);
        expect(await at({ entryDateFloor: day })).not.toContain(before);
        expect(await at({ entryDateFloor: day })).toContain(after);
        expect(await at({ entryDateCeiling: day })).not.toContain(after);
        expect(await at({ entryDateCeiling: day })).toContain(before);
      }
    },
  );

  test.each(ZONES)(
    "the intake event has the time in UTC while the database's time zone is %s",
    async (zone) => {
      await moveDatabaseTo(zone, service());
      const body = { tracking_number: randomUUID(), weight: 1, user_code: 'IEX-1001' };
      const { package_id } = (await api.as('warehouse').receivePackage(body).succeeded()).data;
      const { received_at } = await db.package(package_id);
      expect(Math.abs(Date.now() - received_at.getTime())).toBeLessThan(60_000);
      const webhookEvents = await db.eventsOf(package_id);
      const moment = received_at.toISOString().slice(0, 19).replace('T', ' ');
      expect(webhookEvents).toMatchObject([{ type: 'package.created', data: { entry_date_time: moment } }]);
    },
  );

  test('accept the first and the last year', async () => {
    const { meta } = await list('admin', {
      entryDateFloor: '0001-01-01',
      entryDateCeiling: '9999-12-31',
      shipper: 'Edge',
    });
    expect(meta.total_count).toBe(DAYS.length * 4);
    const inverted = await list('admin', { entryDateFloor: '9999-12-31', entryDateCeiling: '0001-01-01' });
    expect(inverted.meta.total_count).toBe(0);
  });
});

/** The last moment of the day before, the first and last of the day, and the first of the next day. */
function edgesOf(day: string): string[] {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return [-1, 0, 86_399_999, 86_400_000].map((offsetMs) => new Date(midnight + offsetMs).toISOString());
}
