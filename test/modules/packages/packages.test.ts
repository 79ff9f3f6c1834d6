import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { demoId } from '../../../fixtures/demo/values/ids.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../src/modules/packages/intake/house-number.js';
import { maskTrackingNumber } from '../../../src/modules/tracking-numbers/masking.js';
import { rounds } from '../../support/harness/effort.js';
import { eventsOf } from '../../support/receivers/outbound.js';
import { untilAdmitted, type Reply, type Service } from '../../support/service/service.js';
import { moveDatabaseTo } from '../../support/harness/database-zone.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const ZONES = ['UTC', 'America/Jamaica', 'America/New_York', 'Pacific/Kiritimati', 'Asia/Kolkata'];
// The two days of 2025 on which New York changed its clocks, and a leap day.
const DAYS = ['2025-03-09', '2025-11-02', '2024-02-29'];

const { api, service } = withService();
beforeAll(async () => {
  await addPackages(AWKWARD);
}, 60_000);

type Fields = Record<string, string | number | null>;

/** Inserts directly, because intake does not let a test choose the day. */
async function addPackages(rows: Fields[], on: Service = service()): Promise<string[]> {
  const full = rows.map((row) => {
    const number = String(row['tracking_number'] ?? randomUUID());
    const fixed = {
      tenant_id: DEMO.tenants.demo,
      id: randomUUID(),
      house_number: newHouseNumber(),
      status: 'received',
    };
    const dates = { received_at: '2023-01-01T12:00:00Z', updated_at: '2023-01-01T12:00:00Z' };
    const rest = {
      tracking_number: number,
      tracking_key: number,
      weight_lb: 1,
      warehouse_id: DEMO.warehouses.primary,
    };
    return { ...fixed, ...dates, ...rest, ...row };
  });
  await on.owner.query('insert into packages select * from jsonb_populate_recordset(null::packages, $1)', [
    JSON.stringify(full),
  ]);
  return full.map(({ id }) => id);
}

// Texts with the wildcards of ilike, and others that need a comparison without case.
const AWKWARD: Fields[] = [
  '100% Wool',
  'a_b',
  'aXb',
  'back\\slash',
  'BACK\\SLASH',
  '%',
  '_',
  '\\',
  "O'Neil",
  'ÉTÉ',
  '50%_\\x',
].map((text, index) => ({
  courier_id: IEX,
  user_code: `IEX-${1001 + (index % 3)}`,
  shipper: text,
  first_name: text,
  last_name: `${text}z`,
  tracking_number: `${text}${index}`,
}));

const list = (as: string, body?: object, on: Service = service()) => on.call('listPackages', { as, body });
const idsOf = (reply: Reply): string[] =>
  reply.body.data.map((row: { package_id: string }) => row.package_id);

async function rowsWhere(condition: string, on: Service = service()) {
  const { rows } = await on.owner.query(
    `select * from packages where tenant_id = '${DEMO.tenants.demo}' and ${condition} order by received_at desc, id desc`,
  );
  return rows;
}

async function expectSelected(as: string, filters: object, condition: string) {
  const reply = await list(as, { limit: 10_000, ...filters });
  const expected = await rowsWhere(condition);
  expect(reply.status).toBe(200);
  expect(idsOf(reply)).toEqual(expected.map(({ id }) => id));
  expect(reply.body.meta.total_count).toBe(expected.length);
  return expected.length;
}

describe('pages of packages', () => {
  test('returns the newest 25 with the totals of all if there is no body', async () => {
    const all = await rowsWhere('true');
    const reply = await list('admin');
    expect(reply.status).toBe(200);
    expect(idsOf(reply)).toEqual(all.slice(0, 25).map(({ id }) => id));
    const thousandths = all.reduce((sum, { weight_lb }) => sum + BigInt(weight_lb.replace('.', '')), 0n);
    expect(reply.body.meta).toEqual({
      total_count: all.length,
      page: 1,
      limit: 25,
      total_pages: Math.ceil(all.length / 25),
      total_weight: Number(thousandths) / 1000,
    });
    expect(reply.body.message).toBe(`${all.length} packages found.`);
    expect((await list('admin', {})).body.data).toEqual(reply.body.data);
  });

  test('contain each package exactly once', async () => {
    const all = await rowsWhere('true');
    const pages = await Promise.all(
      Array.from({ length: Math.ceil(all.length / 60) }, (_, index) =>
        list('admin', { page: index + 1, limit: 60 }),
      ),
    );
    expect(pages.flatMap(idsOf)).toEqual(all.map(({ id }) => id));
    expect(pages.at(-1)?.body.meta.total_pages).toBe(pages.length);
  });

  test('return an empty page with totals past the last page', async () => {
    const { body } = await list('admin', { page: 1_000_000, limit: 10_000 });
    expect(body.data).toEqual([]);
    expect(body.meta.total_count).toBeGreaterThan(500);
  });

  test('use singular and plural in the message', async () => {
    const [row] = await rowsWhere("shipper = 'a_b'");
    const one = (await list('admin', { houseNumber: row.house_number })).body;
    expect([one.message, one.meta.total_pages]).toEqual(['1 package found.', 1]);
    const none = (await list('admin', { houseNumber: 'NONE' })).body;
    expect(none.message).toBe('0 packages found.');
    expect(none.meta).toEqual({ total_count: 0, total_weight: 0, page: 1, limit: 25, total_pages: 0 });
  });

  test('return the names of courier, carrier and manifest', async () => {
    const id = DEMO.packages.aboardDraft.IEX[0];
    const [row] = await rowsWhere(`id = '${id}'`);
    const { rows: manifests } = await service().owner.query(
      'select manifest_number from manifests where id = $1',
      [DEMO.manifests.draft],
    );
    const { rows: carriers } = await service().owner.query('select name from carriers where id = $1', [
      row.carrier_id,
    ]);
    expect((await list('admin', { houseNumber: row.house_number })).body.data).toEqual([
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
        carrier_name: carriers[0].name,
        manifest_number: manifests[0].manifest_number,
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
    const [{ house_number }] = await rowsWhere('true');
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
    const reply = await list('admin', { [field]: value });
    expect(reply.body).toMatchObject({ code: 'validation_failed', errors: [{ field }] });
    expect(reply.status).toBe(400);
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
        (await list('admin', { shipper: 'Edge', ...body })).body.data.map(
          (row: { entry_date_time: string }) => row.entry_date_time,
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
      const [{ received_at }] = await rowsWhere(`id = '${package_id}'`);
      expect(Math.abs(Date.now() - received_at.getTime())).toBeLessThan(60_000);
      const webhookEvents = await eventsOf(service().owner, [package_id]);
      const moment = received_at.toISOString().slice(0, 19).replace('T', ' ');
      expect(webhookEvents).toMatchObject([{ type: 'package.created', data: { entry_date_time: moment } }]);
    },
  );

  test('accept the first and the last year', async () => {
    const { body } = await list('admin', {
      entryDateFloor: '0001-01-01',
      entryDateCeiling: '9999-12-31',
      shipper: 'Edge',
    });
    expect(body.meta.total_count).toBe(DAYS.length * 4);
    const inverted = await list('admin', { entryDateFloor: '9999-12-31', entryDateCeiling: '0001-01-01' });
    expect(inverted.body.meta.total_count).toBe(0);
  });
});

/** The last moment of the day before, the first and last of the day, and the first of the next day. */
function edgesOf(day: string): string[] {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return [-1, 0, 86_399_999, 86_400_000].map((offsetMs) => new Date(midnight + offsetMs).toISOString());
}

describe('courier access', () => {
  test.each([
    ['iex', IEX],
    ['hrb', HRB],
  ])('%s sees the packages of its own account and no others', async (as, courierId) => {
    expect(await expectSelected(as, {}, `courier_id = '${courierId}'`)).toBeGreaterThan(100);
  });

  test.each([IEX, HRB, TWO, '01930a3e-7c1d-7e11-9c5a-000000000000'])(
    'ignores courierID %s',
    async (courierID) => {
      await expectSelected('iex', { courierID }, `courier_id = '${IEX}'`);
    },
  );

  test('masks numbers of unknown customers except for four characters, and staff see them in full', async () => {
    const whole = await rowsWhere(
      `courier_id = '${IEX}' and user_code is null and shipper is distinct from 'Edge'`,
    );
    expect(whole.length).toBeGreaterThan(2);
    for (const { id, tracking_number, house_number } of whole) {
      const shown = (await list('iex', { houseNumber: house_number })).body.data[0];
      expect(shown).toMatchObject({
        package_id: id,
        tracking_number: maskTrackingNumber(tracking_number),
        user_code: null,
      });
      expect(shown.tracking_number).toBe('*'.repeat(tracking_number.length - 4) + tracking_number.slice(-4));
      expect((await list('warehouse', { houseNumber: house_number })).body.data[0]).toMatchObject({
        tracking_number,
      });
    }
  });

  test('finds masked numbers by their visible part only', async () => {
    const number = 'SECRET_12%34WXYZ';
    const [id] = await addPackages([{ tracking_number: number, courier_id: IEX }]);
    const known = 'SECRET_12%34WXYZ-KNOWN';
    const [knownId] = await addPackages([{ tracking_number: known, courier_id: IEX, user_code: 'IEX-1001' }]);
    const finds = async (as: string, trackingNumber: string) =>
      idsOf(await list(as, { trackingNumber, limit: 10_000 }));
    const parts = Array.from({ length: number.length }, (_, from) =>
      Array.from({ length: number.length - from }, (_, more) => number.slice(from, from + more + 1)),
    ).flat();
    const shown = parts.filter((part) => 'WXYZ'.includes(part));
    for (const part of parts) {
      const found = await finds('iex', part);
      expect({ part, isFound: found.includes(id ?? '') }).toEqual({ part, isFound: shown.includes(part) });
      expect(found).toContain(knownId);
    }
    for (const guess of ['****WXYZ', '%WXYZ', '_WXYZ', 'S%Z', '*'])
      expect(await finds('iex', guess)).not.toContain(id);
    expect(await finds('admin', 'secret_12%34')).toContain(id);
  }, 60_000);

  test('masks numbers of up to four characters completely', async () => {
    const [id] = await addPackages([{ tracking_number: 'QJXZ', courier_id: IEX }]);
    const shown = (await list('iex', { limit: 10_000 })).body.data.find(
      (row: { package_id: string }) => row.package_id === id,
    );
    expect(shown.tracking_number).toBe('****');
    for (const trackingNumber of ['Q', 'QJXZ', '*', 'xz'])
      expect(idsOf(await list('iex', { trackingNumber }))).not.toContain(id);
  });
});

test.each([
  ['', ''],
  ['1', '*'],
  ['1234', '****'],
  ['12345', '*2345'],
  ['1Z999AA10123456784', '**************6784'],
  ['x😀y😀z😀', '**y😀z😀'],
])('masks %j as %j', (number, masked) => {
  expect(maskTrackingNumber(number)).toBe(masked);
});

test('denies anonymous callers and disabled accounts', async () => {
  expect((await api.anonymous.listPackages({}).answer()).body).toMatchObject({
    code: 'token_missing',
  });
  expect((await list('disabled', {})).body).toMatchObject({ code: 'account_disabled' });
});

describe('package tallies', () => {
  // Compares the counted rows per courier with the stored tallies.
  const COMPARED = `
    select tenant_id, package_owner(courier_id) as courier_id, count(*)::int as n, sum(weight_lb) as w from packages group by 1, 2
    except
    select tenant_id, courier_id, sum(total)::int, sum(weight_lb) from package_tallies group by 1, 2`;
  const expectTalliesMatch = async () => {
    const { rows } = await service().owner.query(COMPARED);
    expect(rows).toEqual([]);
    const { rows: more } = await service().owner.query(
      `select (select sum(total) from package_tallies) = (select count(*) from packages) as agree`,
    );
    expect(more).toEqual([{ agree: true }]);
  };

  test('equal the counted rows after the demo data was loaded', expectTalliesMatch);

  const CALLERS = rounds(100, 200);

  test(`stay correct during ${CALLERS} concurrent scans, updates and links`, async () => {
    const ids = await addPackages(
      Array.from({ length: 50 }, (_, index) => ({ courier_id: index % 2 ? IEX : null, user_code: null })),
    );
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) =>
        untilAdmitted<Pick<Reply, 'status' | 'body'>>(() => {
          const package_id = ids[index % 50];
          const link = index % 100 < 50 ? {} : { user_code: 'IEX-1001' };
          return index % 2
            ? api
                .as('warehouse')
                .receivePackage({
                  tracking_number: randomUUID(),
                  weight: 1.001,
                  courier_id: index % 3 ? IEX : HRB,
                })
                .answer()
            : api
                .as('admin')
                .updatePackage({ package_id, weight: 1 + index / 8, ...link })
                .answer();
        }),
      ),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 201]));
    await expectTalliesMatch();
  }, 60_000);

  test('stay correct after bulk deletes, owner changes and weight changes', async () => {
    const ids = await addPackages(Array.from({ length: 300 }, () => ({ courier_id: IEX, weight_lb: 2.5 })));
    await expectTalliesMatch();
    const { owner } = service();
    await owner.query('update packages set courier_id = $1, user_code = null where id = any($2)', [HRB, ids]);
    await owner.query('update packages set courier_id = null where id = any($1)', [ids.slice(0, 50)]);
    await owner.query('update packages set weight_lb = weight_lb * 2 where id = any($1)', [ids]);
    await owner.query("update packages set shipper = 'Nobody', weight_lb = weight_lb where id = any($1)", [
      ids,
    ]);
    await expectTalliesMatch();
    await owner.query('delete from packages where id = any($1)', [ids]);
    await expectTalliesMatch();
  });

  test('give the same totals in the list as counting the rows', async () => {
    // A filter that every package passes makes the list count the rows.
    const passed = { entryDateFloor: '0001-01-01' };
    for (const as of ['admin', 'iex', 'hrb', 'two/admin', 'two/two']) {
      for (const filter of [{}, { courierID: IEX }, { courierID: HRB }, { courierID: TWO }]) {
        const fromTallies = (await list(as, filter)).body.meta;
        expect([as, filter, fromTallies]).toEqual([
          as,
          filter,
          (await list(as, { ...filter, ...passed })).body.meta,
        ]);
      }
    }
  });
});

describe.each([
  ["the application's filters alone", { rowSecurity: false }],
  ['row-level security alone', { applicationFilters: false }],
])('with %s', (_name, options) => {
  const other = withService(options);

  test.each([
    ['admin', 'true'],
    ['iex', `courier_id = '${IEX}'`],
    ['hrb', `courier_id = '${HRB}'`],
  ])('%s sees exactly its packages, and their names', async (as, condition) => {
    const expected = await rowsWhere(condition, other.service());
    const filters = as === 'admin' ? {} : { courierID: TWO };
    const reply = await list(as, { limit: 10_000, ...filters }, other.service());
    expect(idsOf(reply)).toEqual(expected.map(({ id }) => id));
    expect(reply.body.meta.total_count).toBe(expected.length);
    for (const [index, row] of reply.body.data.entries()) {
      expect([row.courier_name === null, row.manifest_number === null, row.carrier_name === null]).toEqual([
        expected[index].courier_id === null,
        expected[index].manifest_id === null,
        expected[index].carrier_id === null,
      ]);
    }
  });

  test("no filter finds another tenant's packages", async () => {
    const { rows } = await other
      .service()
      .owner.query('select * from packages where tenant_id = $1', [DEMO.tenants.two]);
    const two = await list('two/admin', { limit: 100 }, other.service());
    expect(idsOf(two).sort()).toEqual(rows.map(({ id }) => id).sort());
    for (const row of rows) {
      for (const filter of [{ trackingNumber: row.tracking_number }, { houseNumber: row.house_number }]) {
        for (const as of ['admin', 'iex']) expect(idsOf(await list(as, filter, other.service()))).toEqual([]);
      }
    }
  });
});
