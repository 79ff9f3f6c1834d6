import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { maskTrackingNumber } from '../../../../src/modules/tracking-numbers/masking.js';
import { rounds } from '../../../support/harness/effort.js';
import { untilAdmitted, type Reply } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makePackageList, idsOf, AWKWARD } from './listed-packages.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const fixture = withService();
const { api, db, service } = fixture;
const { expectSelected, rowsWhere, list, addPackages } = makePackageList(fixture);
beforeAll(async () => {
  await addPackages(AWKWARD);
}, 60_000);

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
      const [shown] = (await list('iex', { houseNumber: house_number })).data;
      expect(shown).toMatchObject({
        package_id: id,
        tracking_number: maskTrackingNumber(tracking_number),
        user_code: null,
      });
      expect(shown?.tracking_number).toBe('*'.repeat(tracking_number.length - 4) + tracking_number.slice(-4));
      expect((await list('warehouse', { houseNumber: house_number })).data[0]).toMatchObject({
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
    const { data } = await list('iex', { limit: 10_000 });
    const shown = data.find(({ package_id }) => package_id === id);
    expect(shown?.tracking_number).toBe('****');
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
  await api.anonymous.listPackages({}).refused(401, 'token_missing');
  await api.as('disabled').listPackages({}).refused(403, 'account_disabled');
});

describe('package tallies', () => {
  // Compares the counted rows per courier with the stored tallies.
  const COMPARED = `
    select tenant_id, package_owner(courier_id) as courier_id, count(*)::int as n, sum(weight_lb) as w from packages group by 1, 2
    except
    select tenant_id, courier_id, sum(total)::int, sum(weight_lb) from package_tallies group by 1, 2`;
  const expectTalliesMatch = async () => {
    expect(await db.query(COMPARED)).toEqual([]);
    const more = await db.query(
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
        const fromTallies = (await list(as, filter)).meta;
        expect([as, filter, fromTallies]).toEqual([
          as,
          filter,
          (await list(as, { ...filter, ...passed })).meta,
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
  const there = makePackageList(other);

  test.each([
    ['admin', 'true'],
    ['iex', `courier_id = '${IEX}'`],
    ['hrb', `courier_id = '${HRB}'`],
  ])('%s sees exactly its packages, and their names', async (as, condition) => {
    const expected = await there.rowsWhere(condition);
    const filters = as === 'admin' ? {} : { courierID: TWO };
    const reply = await there.list(as, { limit: 10_000, ...filters });
    expect(idsOf(reply)).toEqual(expected.map(({ id }) => id));
    expect(reply.meta.total_count).toBe(expected.length);
    for (const [index, row] of reply.data.entries()) {
      expect([row.courier_name === null, row.manifest_number === null, row.carrier_name === null]).toEqual([
        expected[index]?.courier_id === null,
        expected[index]?.manifest_id === null,
        expected[index]?.carrier_id === null,
      ]);
    }
  });

  test("no filter finds another tenant's packages", async () => {
    const rows = await other.db.all('packages', { tenant_id: DEMO.tenants.two });
    const two = await there.list('two/admin', { limit: 100 });
    expect(idsOf(two).sort()).toEqual(rows.map(({ id }) => id).sort());
    for (const row of rows) {
      for (const filter of [{ trackingNumber: row.tracking_number }, { houseNumber: row.house_number }]) {
        for (const as of ['admin', 'iex']) expect(idsOf(await there.list(as, filter))).toEqual([]);
      }
    }
  });
});
