import { randomInt, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

const { api, service } = withService();
beforeAll(async () => {
  await insertRows(service());
}, 60_000);

type Query = Record<string, string | number | string[]>;
const load = (as: string, query: Query = {}, target: Service = service()) =>
  target.call('listCourierBills', { as, query });

type Bill = Record<string, unknown> & { bill_id: string; courier_id: string; status: string };
const idsOf = ({ body }: Reply): string[] => body.data.map(({ bill_id }: Bill) => bill_id);

type Planted = {
  tenant: string;
  courier: string;
  status: string;
  start: string;
  end: string;
  createdAt: string;
};

/** Bills of each status for two couriers and another tenant. The demo data has bills of one courier only. */
const PLANTED: (Planted & { id: string })[] = [
  [DEMO.tenants.demo, HRB, 'draft', '2025-01-01', '2025-01-31', '2025-02-01 10:00:00Z'],
  [DEMO.tenants.demo, HRB, 'published', '2025-02-01', '2025-02-28', '2025-03-01 10:00:00Z'],
  [DEMO.tenants.demo, HRB, 'paid', '2025-03-01', '2025-03-31', '2025-04-01 10:00:00Z'],
  // Both share a timestamp, so that the id breaks the tie.
  [DEMO.tenants.demo, IEX, 'published', '2025-02-01', '2025-02-28', '2025-03-01 10:00:00Z'],
  [DEMO.tenants.demo, IEX, 'draft', '2025-03-01', '2025-03-31', '2025-03-01 10:00:00Z'],
  [DEMO.tenants.two, TWO, 'draft', '2025-02-01', '2025-02-28', '2025-03-01 10:00:00Z'],
  [DEMO.tenants.two, TWO, 'published', '2025-02-01', '2025-02-28', '2025-03-02 10:00:00Z'],
].map(([tenant = '', courier = '', status = '', start = '', end = '', createdAt = '']) => ({
  id: randomUUID(),
  tenant,
  courier,
  status,
  start,
  end,
  createdAt,
}));

async function insertRows(target: Service): Promise<void> {
  for (const { id, tenant, courier, status, start, end, createdAt } of PLANTED) {
    await target.owner.query(
      `insert into bills (tenant_id, id, invoice_number, courier_id, service_type, start_date, end_date, total_packages,
         subtotal, tax_amount, total_amount, paid_amount, status, created_at)
       values ($1, $2, $3, $4, 'Air standard', $5, $6, 3, 10.10, 0.20, 10.30, $7, $8, $9)`,
      [tenant, id, id, courier, start, end, status === 'paid' ? '10.30' : '0', status, createdAt],
    );
  }
}

/** Returns the ids of the tenant's bills, newest first. */
async function expectedIds(
  condition: string,
  tenant: string = DEMO.tenants.demo,
  target = service(),
): Promise<string[]> {
  const { rows } = await target.owner.query<{ id: string }>(
    `select id from bills where tenant_id = $1 and ${condition} order by created_at desc, id desc`,
    [tenant],
  );
  return rows.map(({ id }) => id);
}

function expectError(reply: Reply, status: number, code: string, field?: string) {
  expect([reply.status, reply.body.code]).toEqual([status, code]);
  if (field) expect(reply.body.errors).toMatchObject([{ field }]);
}

describe('visibility of bills', () => {
  test.each(['admin', 'manager'])(
    '%s sees the bills of every courier, drafts included, newest first',
    async (as) => {
      const reply = await load(as);
      const all = await expectedIds('true');
      expect(reply.status).toBe(200);
      expect(idsOf(reply)).toEqual(all);
      expect(all).toHaveLength(8);
      expect(reply.body).toMatchObject({ count: 8, message: '8 bills found.' });
      expect(reply.body.meta).toEqual({
        current_page: 1,
        per_page: 20_000,
        total_records: 8,
        total_pages: 1,
      });
    },
  );

  test.each([
    ['iex', IEX],
    ['hrb', HRB],
  ])('courier %s sees its own bills and never a draft', async (as, courierId) => {
    const own = await expectedIds(`courier_id = '${courierId}' and status <> 'draft'`);
    const reply = await load(as);
    expect(idsOf(reply)).toEqual(own);
    expect(reply.body.count).toBe(own.length);
    expect(reply.body.meta.total_records).toBe(own.length);
    const draft = await load(as, { status: 'draft' });
    expect(draft.body).toMatchObject({ count: 0, data: [], meta: { total_records: 0, total_pages: 0 } });
    // The courier_id filter cannot widen the result.
    for (const courier_id of [IEX, HRB, TWO, UNKNOWN_ID]) {
      expect(idsOf(await load(as, { courier_id }))).toEqual(own);
    }
  });

  test('another tenant sees its own bills only', async () => {
    expect(idsOf(await load('two/admin'))).toEqual(await expectedIds('true', DEMO.tenants.two));
    expect(idsOf(await load('two/two'))).toEqual(await expectedIds("status <> 'draft'", DEMO.tenants.two));
  });

  test('is denied to the warehouse role, anonymous callers and disabled accounts', async () => {
    expectError(await load('warehouse'), 403, 'permission_denied');
    await api.anonymous.listCourierBills().refused(401, 'token_missing');
    expectError(await load('disabled'), 403, 'account_disabled');
  });
});

describe.each([
  ["the application's filters alone", { rowSecurity: false }],
  ['row-level security alone', { applicationFilters: false }],
])('with %s', (_name, options) => {
  test("couriers see their own bills without drafts, and staff see their tenant's bills", async () => {
    const target = await startService(options);
    try {
      await insertRows(target);
      for (const [as, condition, tenant] of [
        ['iex', `courier_id = '${IEX}' and status <> 'draft'`, DEMO.tenants.demo],
        ['hrb', `courier_id = '${HRB}' and status <> 'draft'`, DEMO.tenants.demo],
        ['two/two', "status <> 'draft'", DEMO.tenants.two],
        ['admin', 'true', DEMO.tenants.demo],
        ['two/admin', 'true', DEMO.tenants.two],
      ] as const) {
        const reply = await load(as, {}, target);
        expect([as, idsOf(reply)]).toEqual([as, await expectedIds(condition, tenant, target)]);
        expect(reply.body.meta.total_records).toBe(reply.body.count);
        const drafts = await load(as, { status: 'draft' }, target);
        const seen = drafts.body.meta.total_records;
        expect([as, seen > 0]).toEqual([as, as.endsWith('admin')]);
      }
    } finally {
      await target.stop();
    }
  }, 60_000);
});

describe('bill filters', () => {
  test.each(['draft', 'published', 'paid'])('status %s excludes other statuses', async (status) => {
    const reply = await load('admin', { status });
    expect(idsOf(reply)).toEqual(await expectedIds(`status = '${status}'`));
    expect(new Set(reply.body.data.map((bill: Bill) => bill.status))).toEqual(new Set([status]));
  });

  test("courier_id selects one courier's bills and matches nothing for unknown or foreign couriers", async () => {
    expect(idsOf(await load('admin', { courier_id: HRB.toUpperCase() }))).toEqual(
      await expectedIds(`courier_id = '${HRB}'`),
    );
    for (const courier_id of [TWO, UNKNOWN_ID]) {
      expect((await load('admin', { courier_id })).body).toMatchObject({ count: 0, data: [] });
    }
  });

  test.each([
    [{ from: '2025-02-28' }, "end_date >= '2025-02-28'"],
    [{ from: '2025-03-01' }, "end_date >= '2025-03-01'"],
    [{ to: '2025-02-01' }, "start_date <= '2025-02-01'"],
    [{ to: '2025-01-31' }, "start_date <= '2025-01-31'"],
    [{ from: '2025-02-10', to: '2025-02-10' }, "start_date <= '2025-02-10' and end_date >= '2025-02-10'"],
  ])('%j selects bills whose period overlaps', async (query, condition) => {
    const found = await expectedIds(condition);
    expect(idsOf(await load('admin', query))).toEqual(found);
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(8);
  });

  test('all filters apply together', async () => {
    const query = { courier_id: HRB, status: 'published', from: '2025-02-01', to: '2025-02-28' };
    const reply = await load('manager', query);
    expect(reply.body).toMatchObject({ count: 1, message: '1 bill found.' });
    expect((await load('manager', { ...query, status: 'paid' })).body.count).toBe(0);
  });

  test('rejects a to before from with 400 and names to', async () => {
    expectError(
      await load('admin', { from: '2025-02-02', to: '2025-02-01' }),
      400,
      'validation_failed',
      'to',
    );
  });

  test.each([
    ['courier_id', 'IEX'],
    ['status', 'Draft'],
    ['status', 'unpaid'],
    ['status', ''],
    ['from', '2025-02-30'],
    ['to', '01/02/2025'],
    ['page', 0],
    ['page', 1_000_001],
    ['page', '1.5'],
    ['limit', 0],
    ['limit', 20_001],
    ['limit', 'all'],
    ['limit', ['1', '2']],
  ])('rejects %s %j with 400 and names the field', async (name, value) => {
    expectError(await load('admin', { [name]: value }), 400, 'validation_failed', name);
  });
});

describe('pages of bills', () => {
  test('contain each bill exactly once', async () => {
    const all = await expectedIds('true');
    for (const limit of [1, 3, 8, 100]) {
      const pages = Math.ceil(all.length / limit);
      const found: string[] = [];
      for (let page = 1; page <= pages; page += 1) {
        const reply = await load('admin', { limit, page });
        expect(reply.body.meta).toEqual({
          current_page: page,
          per_page: limit,
          total_records: all.length,
          total_pages: pages,
        });
        expect(reply.body.count).toBe(reply.body.data.length);
        found.push(...idsOf(reply));
      }
      expect(found).toEqual(all);
      expect((await load('admin', { limit, page: pages + 1 })).body).toMatchObject({ count: 0, data: [] });
    }
    expect((await load('admin', { limit: 20_000, page: 1_000_000 })).body.data).toEqual([]);
  });
});

describe('bill fields', () => {
  test("return the stored row under the contract's names", async () => {
    const { rows } = await service().owner.query(
      `select b.*, start_date::text as first, end_date::text as last, to_char(b.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as at,
         to_char(b.published_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as published
       from bills b where id = $1`,
      [DEMO.bills.published],
    );
    const [row] = rows;
    const { data } = (await load('iex')).body;
    expect(data.find(({ bill_id }: Bill) => bill_id === DEMO.bills.published)).toEqual({
      bill_id: DEMO.bills.published,
      invoice_number: 'INV-000002',
      courier_id: IEX,
      courier_name: 'Island Express',
      courier_code: 'IEX',
      service_type: 'Air standard',
      start_date: row.first,
      end_date: row.last,
      total_packages: row.total_packages,
      tax_rate: 7,
      subtotal: Number(row.subtotal),
      tax_amount: Number(row.tax_amount),
      total_amount: Number(row.total_amount),
      paid_amount: 200,
      balance: Number((row.total_amount - 200).toFixed(2)),
      status: 'published',
      created_at: row.at,
      published_at: row.published,
    });
  });

  test('return amounts exact to the cent for 1,000 random and the largest values', async () => {
    const target = await startService();
    try {
      const cents = Array.from({ length: 1_000 }, () => [randomInt(2 ** 39), randomInt(2 ** 30)]);
      // The columns are numeric(12, 2), and the total must fit too.
      cents.push([999_999_999_998, 1], [1, 0], [30, 10], [0, 0]);
      const bills = cents.map(([subtotal = 0, tax = 0], n) => ({
        tenant_id: DEMO.tenants.demo,
        id: randomUUID(),
        invoice_number: `EXACT-${n}`,
        courier_id: HRB,
        service_type: 'S',
        start_date: '2024-01-01',
        end_date: '2024-01-31',
        total_packages: n,
        subtotal: usd(subtotal),
        tax_amount: usd(tax),
        total_amount: usd(subtotal + tax),
        tax_rate: 0,
        paid_amount: usd(subtotal + tax),
        status: 'paid',
        created_at: '2024-02-01T00:00:00Z',
      }));
      await target.owner.query(
        'insert into bills select * from jsonb_populate_recordset(null::bills, $1::jsonb)',
        [JSON.stringify(bills)],
      );
      const { body } = await load('hrb', {}, target);
      const byNumber = new Map<string, Bill>(
        body.data.map((bill: Bill) => [String(bill['invoice_number']), bill]),
      );
      for (const [n, [subtotal = 0, tax = 0]] of cents.entries()) {
        expect(byNumber.get(`EXACT-${n}`)).toMatchObject({
          subtotal: Number(usd(subtotal)),
          tax_amount: Number(usd(tax)),
          total_amount: Number(usd(subtotal + tax)),
          paid_amount: Number(usd(subtotal + tax)),
        });
      }
      expect(body.count).toBe(cents.length);
    } finally {
      await target.stop();
    }
  }, 60_000);

  const usd = (cents: number) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
});

test('returns up to 20,000 bills per page and the rest on the next page', async () => {
  const target = await startService();
  try {
    await target.owner.query(
      `insert into bills (tenant_id, id, invoice_number, courier_id, service_type, start_date, end_date, total_packages,
         subtotal, tax_amount, total_amount, status, created_at)
       select $1, gen_random_uuid(), 'MANY-' || n, $2, 'Air standard', '2024-01-01', '2024-01-31', 1, 1, 0, 1, 'published',
         '2024-02-01Z'::timestamptz + n * interval '1 minute' from generate_series(1, 20000) n`,
      [DEMO.tenants.demo, HRB],
    );
    const { body } = await load('hrb', {}, target);
    expect([body.count, body.meta.total_records, body.meta.total_pages]).toEqual([20_000, 20_000, 1]);
    // Three bills of the demo data exceed the first page.
    const all = await expectedIds('true', DEMO.tenants.demo, target);
    const [first, second] = [await load('admin', {}, target), await load('admin', { page: 2 }, target)];
    expect(first.body.meta).toMatchObject({ total_records: 20_003, total_pages: 2 });
    expect([first.body.count, second.body.count]).toEqual([20_000, 3]);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(all);
  } finally {
    await target.stop();
  }
}, 120_000);

test('listing bills writes nothing to the database', async () => {
  const before = await fingerprint(service().owner);
  for (const as of ['admin', 'iex']) await load(as);
  expect(await fingerprint(service().owner)).toEqual(before);
});
