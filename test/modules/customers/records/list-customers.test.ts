import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { type Call, type Reply } from '../../../support/service/service.js';
import { withCustomers, rowsOf, type Customer, UNKNOWN_ID } from './customer-calls.js';

const { api, service, list, makeOne, update, remove } = withCustomers();
const idsOf = (reply: Reply) => rowsOf(reply).map((row) => row.courier_customer_id);

/** Returns the rows of all pages and the total of the last one. */
async function listAll(query: NonNullable<Call['query']>, as = 'admin') {
  const rows: Customer[] = [];
  for (let page = 1; ; page += 1) {
    const reply = await list({ limit: 100, ...query, page }, as).answer();
    rows.push(...rowsOf(reply));
    if (rowsOf(reply).length === 0) return { rows, total: Number(reply.body.total) };
  }
}

describe('GET /api/ManageCustomers.php', () => {
  test('returns page 1 of 20 by first name ascending and the total by default', async () => {
    const reply = await list().ok();
    const { rows } = await service().owner.query(
      `select id, count(*) over ()::int as total from customers where tenant_id = $1
       order by first_name, last_name, id limit 20`,
      [DEMO.tenants.demo],
    );
    expect(idsOf(reply)).toEqual(rows.map(({ id }) => id));
    expect(reply.body.total).toBe(rows[0].total);
    expect(reply.message).toBe(`${rows[0].total} customers found.`);
  });

  test('returns the fields of the contract as stored', async () => {
    const { rows } = await service().owner.query(
      `select c.id as courier_customer_id, c.user_code, c.first_name, c.last_name, c.branch, c.is_active::int,
         c.courier_id, o.name as courier_name, to_char(c.created_at, 'YYYY-MM-DD HH24:MI:SS') as created_at,
         to_char(c.updated_at, 'YYYY-MM-DD HH24:MI:SS') as updated_at
       from customers c join couriers o on o.id = c.courier_id where c.user_code in ('IEX-1001', 'IEX-1015', 'IEX-1200')
       order by c.user_code`,
    );
    expect(rows.map(({ is_active }) => is_active)).toEqual([1, 1, 0]);
    expect(rows[1].branch).toBeNull();
    for (const row of rows) expect(rowsOf(await list({ search: row.user_code }).answer())).toEqual([row]);
  });

  test.each(['page', 'limit'])('%s accepts its limits and rejects values beyond them', async (name) => {
    const bounds = { page: [1, 1_000_000], limit: [1, 100] }[name] ?? [];
    for (const value of bounds) await list({ [name]: value }).ok();
    for (const value of [0, -1, (bounds[1] ?? 0) + 1, '1.5', 'x', '']) {
      const reply = await list({ [name]: value }).answer();
      expect(reply).toMatchObject({ status: 400, body: { errors: [{ field: name }] } });
    }
  });

  test.each([
    ['user_code', 'c.user_code, c.id'],
    ['first_name', 'c.first_name, c.last_name, c.id'],
    ['last_name', 'c.last_name, c.first_name, c.id'],
    ['branch', 'c.branch, c.first_name, c.last_name, c.id'],
    ['courier_name', 'o.name, o.id, c.first_name, c.last_name, c.id'],
    ['created_at', 'c.created_at, c.id'],
    ['updated_at', 'c.updated_at, c.id'],
  ])("sorts by %s in both directions for staff, one courier and a courier's user", async (sort_by, order) => {
    for (const [as, courierId] of [
      ['admin', undefined],
      ['manager', DEMO.couriers.HRB],
      ['iex', DEMO.couriers.IEX],
    ] as const) {
      const { rows } = await service().owner.query<{ id: string }>(
        `select c.id from customers c join couriers o on o.tenant_id = c.tenant_id and o.id = c.courier_id
         where c.tenant_id = $1 and c.courier_id = coalesce($2, c.courier_id) order by ${order}`,
        [DEMO.tenants.demo, courierId],
      );
      const ids = rows.map(({ id }) => id);
      const scope = as === 'manager' ? { courier_id: courierId } : {};
      for (const [sort_dir, expected] of [
        ['ASC', ids],
        ['DESC', [...ids].reverse()],
      ] as const) {
        const found = await listAll({ ...scope, sort_by, sort_dir } as Record<string, string>, as);
        const foundIds = found.rows.map((row) => row.courier_customer_id);
        expect([as, sort_dir, foundIds]).toEqual([as, sort_dir, expected]);
      }
    }
  });

  test.each(['first_name', 'courier_name'])(
    'pages by %s contain each record once, and a page past the end is empty with the total',
    async (sort_by) => {
      const whole = await listAll({ sort_by });
      const pages: Customer[] = [];
      for (let page = 1; page <= Math.ceil(whole.rows.length / 7); page += 1)
        pages.push(...rowsOf(await list({ sort_by, limit: 7, page }).answer()));
      expect(pages).toEqual(whole.rows);
      const past = await list({ sort_by, limit: 7, page: 1_000_000 }).answer();
      expect(past.body).toMatchObject({ data: [], total: whole.rows.length });
    },
  );

  test('search finds literal text in codes and names in any case and counts the matches', async () => {
    const names = ['100%', 'a_b', 'back\\slash', 'Ünïcode', 'ReBeL', "O'Neil", '%', '_', '\\', '张伟', 'x y'];
    for (const name of names) await makeOne({ first_name: name, last_name: `${name} Jr` });
    const { rows } = await service().owner.query(
      'select id, user_code, first_name, last_name from customers where tenant_id = $1',
      [DEMO.tenants.demo],
    );
    const people = rows.slice(0, 12).map((row) => `${row.first_name} ${row.last_name}`);
    const texts = [
      ...names,
      ...people,
      'iex-10',
      'IEX-1003',
      'zzzzzz',
      '%%',
      '__',
      'rebel',
      'ÜNÏ',
      '0',
      'n d',
    ];
    const ORDERS = ['first_name', 'courier_name'];
    const searches = [...texts, '-10', 'A', 'a', ' ', "'", 'ar', 'jr ', '1001', 'neil o'];
    for (const [index, search] of searches.entries()) {
      const contains = (text: string) => text.toLowerCase().includes(search.trim().toLowerCase());
      const expected = rows
        .filter((row) => [row.user_code, `${row.first_name} ${row.last_name}`].some(contains))
        .map(({ id }) => id)
        .sort();
      // The default run uses the orders in turn, the long run both for each text.
      for (const sort_by of rounds(0, 1) === 1 ? ORDERS : ORDERS.slice(index % 2, (index % 2) + 1)) {
        const found = await listAll({ search, sort_by });
        const ids = found.rows.map((row) => row.courier_customer_id).sort();
        expect({ search, ids, total: found.total }).toEqual({
          search,
          ids: expected,
          total: expected.length,
        });
      }
    }
  }, 60_000);

  const SEARCHES = rounds(30, 300);

  test(`${SEARCHES} random searches match a literal comparison`, async () => {
    const { rows } = await service().owner.query<{ id: string; code: string; name: string }>(
      `select id, user_code as code, first_name || ' ' || last_name as name from customers where courier_id = $1`,
      [DEMO.couriers.HRB],
    );
    const cut = fc
      .tuple(fc.nat(rows.length - 1), fc.boolean(), fc.nat(12), fc.integer({ min: 1, max: 8 }), fc.boolean())
      .map(([index, isCode, from, length, isUpper]) => {
        const row = rows[index];
        const text = ((isCode ? row?.code : row?.name) ?? '').slice(from, from + length) || '%_';
        return isUpper ? text.toUpperCase() : text;
      });
    await fc.assert(
      fc.asyncProperty(cut, async (search) => {
        const contains = (text: string) => text.toLowerCase().includes(search.trim().toLowerCase());
        const expected = rows
          .filter(({ code, name }) => contains(code) || contains(name))
          .map(({ id }) => id);
        const reply = await list({ search, limit: 100 }, 'hrb').answer();
        expect(idsOf(reply).sort()).toEqual(expected.sort());
        expect(reply.body.total).toBe(expected.length);
      }),
      { numRuns: SEARCHES, seed: 20261121 },
    );
  }, 60_000);

  test('branch matches exactly, combines with other filters and is ignored if blank', async () => {
    await makeOne({ branch: 'Kingston 5', first_name: 'Nearby' });
    const { rows } = await service().owner.query<{ branch: string; n: number }>(
      'select branch, count(*)::int as n from customers where tenant_id = $1 and branch is not null group by branch',
      [DEMO.tenants.demo],
    );
    expect(rows.length).toBeGreaterThan(8);
    for (const { branch, n } of rows) {
      const found = await listAll({ branch });
      expect([branch, found.total, found.rows.length]).toEqual([branch, n, n]);
      expect(found.rows.filter((row) => row.branch !== branch)).toEqual([]);
      const sorted = await listAll({ branch, sort_by: 'courier_name', sort_dir: 'DESC' });
      expect(new Set(sorted.rows)).toEqual(new Set(found.rows));
    }
    for (const branch of ['kingston', 'Kingsto', 'King ston', 'K%', '_ingston'])
      expect((await list({ branch }).ok()).body).toMatchObject({ data: [], total: 0 });
    const near = await list({ branch: 'Kingston 5', search: 'near' }).answer();
    expect(rowsOf(near)).toMatchObject([{ first_name: 'Nearby' }]);
    expect((await list({ branch: 'Kingston', search: 'Nearby' }).ok()).body).toMatchObject({
      data: [],
      total: 0,
    });
    expect((await list({ branch: 'Kingston', courier_id: DEMO.couriers.HRB }).ok()).body.total).toBe(0);
    const all = (await list().ok()).body.total;
    for (const branch of ['', ' ']) expect((await list({ branch }).ok()).body.total).toBe(all);
  });

  test('couriers see only their own customers, and staff filter by courier_id', async () => {
    const own = await listAll({ courier_id: DEMO.couriers.HRB }, 'iex');
    expect(own.rows.length).toBeGreaterThan(0);
    expect(own.rows.filter((row) => row.courier_id !== DEMO.couriers.IEX)).toEqual([]);
    expect(own.total).toBe(own.rows.length);
    const filtered = await listAll({ courier_id: DEMO.couriers.HRB }, 'warehouse');
    expect(filtered.rows.length).toBeGreaterThan(0);
    expect(filtered.rows.filter((row) => row.courier_id !== DEMO.couriers.HRB)).toEqual([]);
    expect(filtered.total).toBe(filtered.rows.length);
    for (const courier_id of [UNKNOWN_ID, DEMO.couriers.TWO])
      expect((await list({ courier_id }).ok()).body).toMatchObject({ data: [], total: 0 });
    expect((await list({ search: 'HRB-2' }, 'iex').ok()).body).toMatchObject({ data: [], total: 0 });
  });

  test('lists inactive customers as inactive', async () => {
    expect(rowsOf(await list({ search: 'IEX-1200' }).answer())).toMatchObject([{ is_active: 0 }]);
  });

  test('rejects anonymous callers and invalid values', async () => {
    expect(await api.anonymous.listCustomers().answer()).toMatchObject({
      status: 401,
      body: { status: 'error' },
    });
    const wrong = {
      sort_by: 'email',
      sort_dir: 'asc',
      courier_id: 'x',
      action: 'branch',
      search: 'x'.repeat(101),
    };
    for (const [field, value] of Object.entries(wrong)) {
      const reply = await list({ [field]: value }).answer();
      expect(reply).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ field }] } });
    }
  });
});

describe('GET /api/ManageCustomers.php?action=branches', () => {
  const branches = (as: string, query: Record<string, string> = {}) =>
    api.as(as).listCustomers({ action: 'branches', ...query });

  async function namesOf(tenantId: string, courierId: string | null = null) {
    const { rows } = await service().owner.query<{ branch: string }>(
      `select distinct branch from customers where tenant_id = $1 and courier_id = coalesce($2, courier_id)
       and branch is not null order by branch`,
      [tenantId, courierId],
    );
    return rows.map(({ branch }) => branch);
  }

  test("returns each name once in order: a courier's own, or for staff of all couriers or one", async () => {
    const { demo, two } = DEMO.tenants;
    const { IEX, HRB, TWO } = DEMO.couriers;
    expect((await namesOf(demo, IEX)).length).toBeGreaterThan(4);
    for (const [as, query, names] of [
      ['iex', {}, await namesOf(demo, IEX)],
      ['iex', { courier_id: HRB }, await namesOf(demo, IEX)],
      ['hrb', {}, await namesOf(demo, HRB)],
      ['admin', {}, await namesOf(demo)],
      ['warehouse', { courier_id: HRB }, await namesOf(demo, HRB)],
      ['admin', { courier_id: TWO }, []],
      ['admin', { courier_id: UNKNOWN_ID }, []],
      ['two/admin', {}, await namesOf(two)],
    ] as const) {
      const reply = await branches(as, query).answer();
      expect([as, query, reply.status, reply.data]).toEqual([as, query, 200, names]);
      expect(reply.body.total).toBeUndefined();
    }
  });

  test('lists a branch from its first customer until its last one is gone', async () => {
    const has = async () => new Set<unknown>((await branches('iex').ok()).data).has('Alpha ✓');
    expect(await has()).toBe(false);
    const one = await makeOne({ branch: 'Alpha ✓' });
    const other = await makeOne({ branch: 'Alpha ✓' });
    const names: unknown[] = (await branches('iex').ok()).data;
    expect(names.filter((name) => name === 'Alpha ✓')).toHaveLength(1);
    await update({ courier_customer_id: one.courier_customer_id, branch: '' }).ok();
    expect(await has()).toBe(true);
    await remove({ query: { id: other.courier_customer_id } }).ok();
    expect(await has()).toBe(false);
  });
});
