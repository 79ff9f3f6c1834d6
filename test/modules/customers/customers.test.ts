import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { type Call, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { api, service } = withService();

const UNKNOWN_ID = '01930a3e-0000-7000-8000-000000000000';
const EDITORS = ['admin', 'manager', 'iex'];

let serial = 0;
const newCode = () => `TEST-${(serial += 1)}`;

type Customer = {
  courier_customer_id: string;
  user_code: string;
  first_name: string;
  last_name: string;
  branch: string | null;
  is_active: number;
  courier_id: string;
  courier_name: string;
  created_at: string;
  updated_at: string;
};

const list = (query: NonNullable<Call['query']> = {}, as = 'admin') => api.as(as).listCustomers(query);
const create = (body: Record<string, unknown>, as = 'iex') => api.as(as).createCustomer(unchecked(body));
const update = (body: Record<string, unknown>, as = 'iex') => api.as(as).updateCustomer(unchecked(body));
const remove = (call: Call, as = 'iex') => api.with({ as, ...call }).deleteCustomer();

const rowsOf = ({ body }: Reply) => body['data'] as Customer[];
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

async function stored(id: string) {
  const { rows } = await service().owner.query('select * from customers where id = $1', [id]);
  return rows[0];
}

async function auditOf(id: string) {
  const { rows } = await service().owner.query(
    'select * from audit_entries where entity_id = $1 order by at, id',
    [id],
  );
  return rows;
}

async function auditEntries(): Promise<number> {
  const { rows } = await service().owner.query<{ n: number }>('select count(*)::int as n from audit_entries');
  return rows[0]?.n ?? 0;
}

async function makeOne(fields: Record<string, unknown> = {}, as = 'iex') {
  const user_code = newCode();
  const reply = await create({ user_code, first_name: 'First', last_name: 'Last', ...fields }, as).ok();
  return { courier_customer_id: reply.data.id, user_code };
}

/** Returns everything by which a caller could distinguish two rejections. */
const distinguishable = ({ status, body }: Reply) => ({ status, ...body, request_id: '', timestamp: 0 });

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

describe('POST /api/ManageCustomers.php', () => {
  const valid = () => ({ user_code: newCode(), first_name: 'Marcia', last_name: 'Campbell' });

  test.each(EDITORS)('%s may create a customer, stored without white space around the texts', async (as) => {
    const body = {
      user_code: `  ${newCode()} `,
      first_name: ' Ünï ✓',
      last_name: '%_\\',
      branch: 'New Kingston',
      email: 'a@b.example',
      is_active: 0,
      courier_id: DEMO.couriers.IEX,
    };
    const reply = await create(body, as).ok();
    expect(reply).toMatchObject({ status: 200, body: { message: 'Customer created.' } });
    expect(Object.keys(reply.data)).toEqual(['id']);
    const { id } = reply.data;
    const trimmed = { user_code: body.user_code.trim(), first_name: 'Ünï ✓' };
    expect(await stored(id)).toMatchObject({
      ...body,
      ...trimmed,
      is_active: false,
      tenant_id: DEMO.tenants.demo,
    });
    const [entry, ...more] = await auditOf(id);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      action: 'customer.created',
      entity: 'customer',
      actor_kind: 'user',
      actor_id: DEMO.users[as as 'iex'],
      before: null,
      after: { ...body, ...trimmed, is_active: false },
    });
    expect(rowsOf(await list({ search: body.user_code }).answer())).toMatchObject([
      { courier_customer_id: id },
    ]);
  });

  test('stores no branch and email and an active customer by default', async () => {
    const { courier_customer_id } = await makeOne();
    expect(await stored(courier_customer_id)).toMatchObject({ branch: null, email: null, is_active: true });
    const blank = await makeOne({ branch: ' \t', email: '' });
    expect(await stored(blank.courier_customer_id)).toMatchObject({ branch: null, email: null });
  });

  test("takes its times from the database's clock, as the audit trail does", async () => {
    const { courier_customer_id: id } = await makeOne();
    await update({ courier_customer_id: id, first_name: 'Later' }).ok();
    const { rows } = await service().owner.query(
      `select c.created_at = min(e.at) as is_created_at, c.updated_at = max(e.at) as is_updated_at
       from customers c join audit_entries e on e.entity_id = c.id where c.id = $1 group by c.created_at, c.updated_at`,
      [id],
    );
    expect(rows).toEqual([{ is_created_at: true, is_updated_at: true }]);
  });

  test('rejects a code that the courier already has with 409, but accepts other cases and codes of siblings', async () => {
    const body = valid();
    await create(body).ok();
    const before = await auditEntries();
    for (const as of EDITORS) {
      await create({ ...body, first_name: 'Other', courier_id: DEMO.couriers.IEX }, as).refused(
        409,
        'duplicate_user_code',
      );
    }
    expect(await auditEntries()).toBe(before);
    expect(await create({ ...body, user_code: `${body.user_code}\u200b ` }).status()).toBe(409);
    await create({ ...body, user_code: body.user_code.toLowerCase() }).ok();
    await create(body, 'hrb').ok();
    await create({ ...body, user_code: 'HRB-2001' }).ok();
  });

  test('requires a courier_id from staff and responds 404 identically to unknown and foreign ones', async () => {
    const body = valid();
    expect(await create(body, 'admin').answer()).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'courier_id', code: 'required' }] },
    });
    const unknown = await create({ ...body, courier_id: UNKNOWN_ID }, 'manager').refused(
      404,
      'courier_not_found',
    );
    const foreign = await create({ ...body, courier_id: DEMO.couriers.TWO }, 'manager').answer();
    expect(distinguishable(foreign)).toEqual(distinguishable(unknown));
  });

  test("uses the courier's own account, whatever courier_id it sends", async () => {
    for (const courier_id of [DEMO.couriers.HRB, DEMO.couriers.TWO, UNKNOWN_ID]) {
      const reply = await create({ ...valid(), courier_id }).ok();
      expect((await stored(reply.data.id)).courier_id).toBe(DEMO.couriers.IEX);
    }
  });

  test('the warehouse role may list but not change customers', async () => {
    const { courier_customer_id } = await makeOne();
    const replies = [
      await create({ ...valid(), courier_id: DEMO.couriers.IEX }, 'warehouse').answer(),
      await update({ courier_customer_id, first_name: 'X' }, 'warehouse').answer(),
      await remove({ query: { id: courier_customer_id } }, 'warehouse').answer(),
    ];
    for (const reply of replies)
      expect(reply).toMatchObject({ status: 403, body: { status: 'fail', code: 'permission_denied' } });
    await list({}, 'warehouse').ok();
  });

  test.each([
    ['user_code', '', 'x'.repeat(101), ' ', '\u3000', 12, null, undefined],
    ['first_name', '', 'x'.repeat(101), '\t', true, null, undefined],
    ['last_name', '', 'x'.repeat(101), '\n', [], null, undefined],
    ['branch', 'x'.repeat(101), 7, null],
    ['email', 'x', '@', 'a@', '@b', 'a b@c', 'a@b@c', 'a@b\r\nBcc: c@d', `${'x'.repeat(250)}@b.cd`, 7, null],
    ['is_active', 2, -1, '1', true, 0.5, null],
    ['courier_id', 'x', '', null, 7],
  ])('rejects invalid values of %s and names the field', async (field, ...values) => {
    const before = await auditEntries();
    for (const value of values) {
      const reply = await create({ ...valid(), [field]: value }).answer();
      expect([value, reply.status, reply.errors[0]?.field]).toEqual([value, 400, field]);
    }
    expect(await auditEntries()).toBe(before);
  });

  test('counts lengths in characters and accepts the limit', async () => {
    const long = (length: number) => '😀'.repeat(length - 6) + String((serial += 1)).padStart(6, '0');
    const body = { user_code: long(100), first_name: long(100), last_name: long(100), branch: long(100) };
    const reply = await create(body).ok();
    expect(await stored(reply.data.id)).toMatchObject(body);
  });

  test('accepts pre-alerts for a new customer at once, but not for an inactive one', async () => {
    const announce = (UserCode: string) =>
      api.withKey(DEMO.apiKeys.IEX).submitPrealert({ UserCode, TrackingNumber: `FOR-${UserCode}` });
    await announce((await makeOne()).user_code).created();
    expect(await announce((await makeOne({ is_active: 0 })).user_code).status()).toBe(400);
  });
});

describe('PUT /api/ManageCustomers.php', () => {
  test.each(EDITORS)('%s may change each field separately', async (as) => {
    const { courier_customer_id } = await makeOne({ branch: 'Old', email: 'old@mail.example' });
    const changes = {
      user_code: newCode(),
      first_name: 'New first',
      last_name: 'New last',
      branch: 'New branch',
      email: 'new@mail.example',
      is_active: 0,
    };
    for (const [field, value] of Object.entries(changes)) {
      const before = await stored(courier_customer_id);
      const reply = await update({ courier_customer_id, [field]: value }, as).answer();
      expect(reply).toMatchObject({ status: 200, body: { message: 'Customer updated.' } });
      const after = await stored(courier_customer_id);
      const wanted = field === 'is_active' ? false : value;
      expect(after).toEqual({ ...before, [field]: wanted, updated_at: after.updated_at });
      expect(after.updated_at.getTime()).toBeGreaterThanOrEqual(before.updated_at.getTime());
      expect((await auditOf(courier_customer_id)).at(-1)).toMatchObject({
        action: 'customer.updated',
        actor_id: DEMO.users[as as 'iex'],
        before: { [field]: before[field] },
        after: { [field]: wanted },
      });
    }
    expect(await auditOf(courier_customer_id)).toHaveLength(1 + Object.keys(changes).length);
  });

  test('returns the record as the list shows it', async () => {
    const { courier_customer_id } = await makeOne({ branch: 'B' });
    const reply = await update({ courier_customer_id, last_name: 'Answered' }).ok();
    expect([reply.data]).toEqual(rowsOf(await list({ search: 'Answered' }).answer()));
  });

  test('writes nothing if all values are equal, and the message says so', async () => {
    const fields = {
      first_name: 'Same',
      last_name: 'Same',
      branch: 'Same',
      email: 's@s.example',
      is_active: 1,
    };
    const one = await makeOne(fields);
    const before = await stored(one.courier_customer_id);
    const entries = await auditEntries();
    for (const body of [{ ...one, ...fields }, { courier_customer_id: one.courier_customer_id }]) {
      const reply = await update(body).ok();
      expect(reply.message).toMatch(/Nothing was changed/);
      expect(reply.data).toMatchObject(one);
    }
    expect(await stored(one.courier_customer_id)).toEqual(before);
    expect(await auditEntries()).toBe(entries);
  });

  test('blank text clears branch and email and is rejected for other fields', async () => {
    const { courier_customer_id } = await makeOne({ branch: 'B', email: 'e@mail.example' });
    await update({ courier_customer_id, branch: ' ', email: '' }).ok();
    expect(await stored(courier_customer_id)).toMatchObject({ branch: null, email: null });
    for (const field of ['user_code', 'first_name', 'last_name']) {
      for (const value of ['', ' ', null, 'x'.repeat(101)]) {
        const reply = await update({ courier_customer_id, [field]: value }).answer();
        expect([value, reply.status, reply.errors[0]?.field]).toEqual([value, 400, field]);
      }
    }
  });

  test('ignores courier, tenant, id and timestamps in the body', async () => {
    const { courier_customer_id } = await makeOne();
    const before = await stored(courier_customer_id);
    await update(
      {
        courier_customer_id,
        courier_id: DEMO.couriers.HRB,
        tenant_id: DEMO.tenants.two,
        id: UNKNOWN_ID,
        created_at: '2000-01-01 00:00:00',
        first_name: 'Mine',
      },
      'admin',
    ).ok();
    const after = await stored(courier_customer_id);
    expect(after).toEqual({ ...before, first_name: 'Mine', updated_at: after.updated_at });
  });

  test("rejects another customer's code with 409 and changes nothing, but accepts a sibling's code", async () => {
    const [one, other] = [await makeOne(), await makeOne()];
    const before = await stored(one.courier_customer_id);
    const taken = { ...one, user_code: other.user_code, first_name: 'Not stored' };
    await update(taken).refused(409, 'duplicate_user_code');
    expect(await stored(one.courier_customer_id)).toEqual(before);
    await update({ ...one, user_code: 'HRB-2002' }).ok();
  });

  test("a new code is applied to the customer's own pre-alerts only", async () => {
    const [one, other] = [await makeOne(), await makeOne()];
    await create({ user_code: one.user_code, first_name: 'Sibling', last_name: 'Sibling' }, 'hrb').ok();
    const announce = async (key: string, UserCode: string, TrackingNumber: string) => {
      const reply = await api.withKey(key).submitPrealert({ UserCode, TrackingNumber }).succeeded();
      return reply.data.prealert_id;
    };
    const { IEX, HRB } = DEMO.apiKeys;
    const own = [
      await announce(IEX, one.user_code, `A-${one.user_code}`),
      await announce(IEX, one.user_code, `B-${one.user_code}`),
    ];
    const others = [
      await announce(IEX, other.user_code, `C-${one.user_code}`),
      await announce(HRB, one.user_code, `D-${one.user_code}`),
    ];
    await service().owner.query("update prealerts set status = 'received' where id = $1", [own[1]]);
    const user_code = newCode();
    await update({ ...one, user_code }).ok();
    const codesOf = async (ids: string[]) => {
      const { rows } = await service().owner.query('select user_code from prealerts where id = any($1)', [
        ids,
      ]);
      return rows.map((row) => row.user_code).sort();
    };
    expect(await codesOf(own)).toEqual([user_code, user_code]);
    expect(await codesOf(others)).toEqual([one.user_code, other.user_code].sort());
    for (const id of own) {
      expect((await auditOf(id)).at(-1)).toMatchObject({
        action: 'prealert.user_code_changed',
        actor_id: DEMO.users.iex,
        before: { user_code: one.user_code },
        after: { user_code },
      });
    }
    // The package on its way finds its owner, although another customer has the old code by now.
    await create({ user_code: one.user_code, first_name: 'Newcomer', last_name: 'N' }).ok();
    const received = await api
      .as('warehouse')
      .receivePackage({ tracking_number: `A-${one.user_code}`, weight: 1, courier_id: DEMO.couriers.IEX })
      .succeeded();
    expect(received.data).toMatchObject({ matched_by: 'prealert', user_code });
  });

  test('packages keep the code and the name with which they were received', async () => {
    const one = await makeOne({ first_name: 'Before' });
    const body = { tracking_number: `KEEP-${one.user_code}`, weight: 1, user_code: one.user_code };
    const received = await api.as('warehouse').receivePackage(body).created();
    const row = async () => {
      const { rows } = await service().owner.query('select * from packages where id = $1', [
        received.data.package_id,
      ]);
      return rows[0];
    };
    const before = await row();
    expect(before).toMatchObject({ user_code: one.user_code, first_name: 'Before' });
    await update({ ...one, user_code: newCode(), first_name: 'After' }).ok();
    expect(await row()).toEqual(before);
    await remove({ query: { id: one.courier_customer_id } }).ok();
    expect(await row()).toEqual(before);
  });

  test('responds identically to missing, sibling and foreign customers and leaves them unchanged', async () => {
    const { courier_customer_id } = await makeOne();
    const { rows } = await service().owner.query('select id from customers where tenant_id = $1 limit 1', [
      DEMO.tenants.two,
    ]);
    const missing = await update({ courier_customer_id: UNKNOWN_ID, first_name: 'X' }, 'hrb').refused(
      404,
      'customer_not_found',
    );
    const missingToo = await remove({ query: { id: UNKNOWN_ID } }, 'hrb').answer();
    expect(distinguishable(missingToo)).toEqual(distinguishable(missing));
    for (const id of [courier_customer_id, rows[0].id]) {
      const before = await stored(id);
      // The user_code is already taken, but the response must not reveal it.
      const tries = [
        await update({ courier_customer_id: id, first_name: 'X' }, 'hrb').answer(),
        await update({ courier_customer_id: id, user_code: 'HRB-2001' }, 'hrb').answer(),
        await remove({ query: { id } }, 'hrb').answer(),
        await remove({ body: { courier_customer_id: id } }, 'hrb').answer(),
      ];
      for (const reply of tries) expect(distinguishable(reply)).toEqual(distinguishable(missing));
      expect(await stored(id)).toEqual(before);
    }
  });

  test('rejects anonymous callers and requires courier_customer_id', async () => {
    expect(await api.anonymous.updateCustomer(unchecked({})).answer()).toMatchObject({ status: 401 });
    for (const courier_customer_id of [undefined, 'x', '', null, 7]) {
      const reply = await update({ courier_customer_id, first_name: 'X' }).answer();
      expect(reply).toMatchObject({ status: 400, body: { errors: [{ field: 'courier_customer_id' }] } });
    }
  });
});

describe('DELETE /api/ManageCustomers.php', () => {
  test('deletes by query, body or both, and audits the deleted customer', async () => {
    const calls: ((id: string) => Call)[] = [
      (id) => ({ query: { id } }),
      (courier_customer_id) => ({ body: { courier_customer_id } }),
      (id) => ({ query: { id }, body: { courier_customer_id: id.toUpperCase() } }),
    ];
    for (const as of EDITORS) {
      for (const callFor of calls) {
        const { courier_customer_id: id, user_code } = await makeOne({
          branch: 'B',
          email: 'e@mail.example',
        });
        const reply = await remove(callFor(id), as).answer();
        expect(reply).toMatchObject({ status: 200, body: { data: { courier_customer_id: id } } });
        expect(await stored(id)).toBeUndefined();
        expect((await auditOf(id)).at(-1)).toMatchObject({
          action: 'customer.deleted',
          actor_id: DEMO.users[as as 'iex'],
          before: { user_code, branch: 'B', email: 'e@mail.example', courier_id: DEMO.couriers.IEX },
          after: null,
        });
        expect(await remove(callFor(id), as).status()).toBe(404);
      }
    }
  });

  test('accepts a JSON content type without a body', async () => {
    const HEADERS: Record<string, string>[] = [
      { 'content-type': 'application/json' },
      { 'content-type': 'application/json; charset=utf-8', 'content-length': '0' },
      { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    ];
    for (const headers of HEADERS) {
      const { courier_customer_id } = await makeOne();
      const reply = await remove({ query: { id: courier_customer_id }, headers }).answer();
      expect([headers, reply.status]).toEqual([headers, 200]);
      expect(await stored(courier_customer_id)).toBeUndefined();
    }
  });

  test('rejects a missing id and two different ids with 400 and deletes nothing', async () => {
    const [one, other] = [await makeOne(), await makeOne()];
    const id = one.courier_customer_id;
    const calls: [Call, string][] = [
      [{}, 'id'],
      [{ body: {} }, 'id'],
      [{ body: { id } }, 'id'],
      [{ query: { id: 'x' } }, 'id'],
      [{ query: { id: '' }, body: one }, 'id'],
      [{ query: { id: [id, id] } }, 'id'],
      [{ query: { id }, body: { courier_customer_id: other.courier_customer_id } }, 'courier_customer_id'],
      [{ query: { id }, body: { courier_customer_id: null } }, 'courier_customer_id'],
      [{ body: { courier_customer_id: 'x' } }, 'courier_customer_id'],
    ];
    for (const [call, field] of calls) {
      const reply = await remove(call).answer();
      expect([call, reply.status, reply.errors[0]?.field]).toEqual([call, 400, field]);
    }
    for (const each of [id, other.courier_customer_id])
      expect(await stored(each)).toMatchObject({ id: each });
    expect(await api.anonymous.deleteCustomer(undefined, { query: { id } }).answer()).toMatchObject({
      status: 401,
    });
  });

  test('keeps the pre-alerts, without a name until another customer has the code', async () => {
    const one = await makeOne({ first_name: 'Gone' });
    const number = `LEFT-${one.user_code}`;
    await api
      .withKey(DEMO.apiKeys.IEX)
      .submitPrealert({ UserCode: one.user_code, TrackingNumber: number })
      .succeeded();
    await remove({ query: { id: one.courier_customer_id } }).ok();
    const shown = () => api.as('iex').listPrealerts({ search: number });
    expect((await shown().ok()).data).toMatchObject([{ user_code: one.user_code, first_name: null }]);
    await create({ user_code: one.user_code, first_name: 'Next', last_name: 'N' }).ok();
    expect((await shown().ok()).data).toMatchObject([{ user_code: one.user_code, first_name: 'Next' }]);
  });
});

test('the tallies equal the counted rows after all tests above', async () => {
  const { rows } = await service().owner.query(
    `with counted as (
       select tenant_id, courier_id, '' as branch, count(*)::int as n from customers group by 1, 2
       union all
       select tenant_id, courier_id, branch, count(*)::int from customers where branch is not null group by 1, 2, 3
     ), tallied as (
       select tenant_id, courier_id, branch, sum(total)::int as n from customer_tallies group by 1, 2, 3 having sum(total) <> 0
     )
     select * from counted full join tallied using (tenant_id, courier_id, branch, n) where counted is null or tallied is null`,
  );
  expect(rows).toEqual([]);
});
