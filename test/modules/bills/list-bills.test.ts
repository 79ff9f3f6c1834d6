import { randomInt, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { Row } from '../../support/fixture/tables.js';
import { withService } from '../../support/fixture/with-service.js';
import { idsOf, makeBillList } from './listed-bills.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

const fixture = withService();
const { api, db } = fixture;
const { insertRows, expectedIds, load } = makeBillList(fixture);
beforeAll(() => insertRows(), 60_000);

describe('visibility of bills', () => {
  test.each(['admin', 'manager'])(
    '%s sees the bills of every courier, drafts included, newest first',
    async (as) => {
      const reply = await load(as).ok();
      const all = await expectedIds('true');
      expect(idsOf(reply)).toEqual(all);
      expect(all).toHaveLength(8);
      expect(reply.body).toMatchObject({ count: 8, message: '8 bills found.' });
      expect(reply.meta).toEqual({
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
    const reply = await load(as).ok();
    expect(idsOf(reply)).toEqual(own);
    expect(reply.body.count).toBe(own.length);
    expect(reply.meta.total_records).toBe(own.length);
    const draft = await load(as, { status: 'draft' }).ok();
    expect(draft.body).toMatchObject({ count: 0, data: [], meta: { total_records: 0, total_pages: 0 } });
    // The courier_id filter cannot widen the result.
    for (const courier_id of [IEX, HRB, TWO, UNKNOWN_ID]) {
      expect(idsOf(await load(as, { courier_id }).ok())).toEqual(own);
    }
  });

  test('another tenant sees its own bills only', async () => {
    expect(idsOf(await load('two/admin').ok())).toEqual(await expectedIds('true', DEMO.tenants.two));
    expect(idsOf(await load('two/two').ok())).toEqual(
      await expectedIds("status <> 'draft'", DEMO.tenants.two),
    );
  });

  test('is denied to the warehouse role, anonymous callers and disabled accounts', async () => {
    await load('warehouse').refused(403, 'permission_denied');
    await api.anonymous.listCourierBills().refused(401, 'token_missing');
    await load('disabled').refused(403, 'account_disabled');
  });
});

describe.each([
  ["the application's filters alone", { rowSecurity: false }],
  ['row-level security alone', { applicationFilters: false }],
])('with %s', (_name, options) => {
  const other = withService(options);
  const there = makeBillList(other);

  test("couriers see their own bills without drafts, and staff see their tenant's bills", async () => {
    await there.insertRows();
    for (const [as, condition, tenant] of [
      ['iex', `courier_id = '${IEX}' and status <> 'draft'`, DEMO.tenants.demo],
      ['hrb', `courier_id = '${HRB}' and status <> 'draft'`, DEMO.tenants.demo],
      ['two/two', "status <> 'draft'", DEMO.tenants.two],
      ['admin', 'true', DEMO.tenants.demo],
      ['two/admin', 'true', DEMO.tenants.two],
    ] as const) {
      const reply = await there.load(as).ok();
      expect([as, idsOf(reply)]).toEqual([as, await there.expectedIds(condition, tenant)]);
      expect(reply.meta.total_records).toBe(reply.body.count);
      const drafts = await there.load(as, { status: 'draft' }).ok();
      expect([as, drafts.meta.total_records > 0]).toEqual([as, as.endsWith('admin')]);
    }
  });
});

describe('bill fields', () => {
  test("return the stored row under the contract's names", async () => {
    type Stored = Row<'bills'> & { first: string; last: string; at: string; published: string; due: string };
    const [row] = await db.query<Stored>(
      `select b.*, start_date::text as first, end_date::text as last, to_char(b.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as at,
         to_char(b.published_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as published,
         to_char(b.published_at at time zone 'UTC' + interval '30 days', 'YYYY-MM-DD') as due
       from bills b where id = $1`,
      [DEMO.bills.published],
    );
    if (!row) throw new Error('The demo data has no published bill.');
    const { data } = await load('iex').ok();
    expect(data.find(({ bill_id }) => bill_id === DEMO.bills.published)).toEqual({
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
      balance: Number((Number(row.total_amount) - 200).toFixed(2)),
      status: 'published',
      created_at: row.at,
      published_at: row.published,
      due_date: row.due,
      is_overdue: row.due < new Date().toISOString().slice(0, 10),
      mail_status: null,
      currency: 'USD',
    });
  });

  describe('of many amounts', () => {
    const other = withService();
    const there = makeBillList(other);

    test('return amounts exact to the cent for 1,000 random and the largest values', async () => {
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
      await other.db.query(
        'insert into bills select * from jsonb_populate_recordset(null::bills, $1::jsonb)',
        [JSON.stringify(bills)],
      );
      const { body, data } = await there.load('hrb').ok();
      const byNumber = new Map(data.map((bill) => [bill.invoice_number, bill]));
      for (const [n, [subtotal = 0, tax = 0]] of cents.entries()) {
        expect(byNumber.get(`EXACT-${n}`)).toMatchObject({
          subtotal: Number(usd(subtotal)),
          tax_amount: Number(usd(tax)),
          total_amount: Number(usd(subtotal + tax)),
          paid_amount: Number(usd(subtotal + tax)),
        });
      }
      expect(body.count).toBe(cents.length);
    });
  });

  const usd = (cents: number) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
});

test('listing bills writes nothing to the database', async () => {
  const before = await db.fingerprint();
  for (const as of ['admin', 'iex']) await load(as).ok();
  expect(await db.fingerprint()).toEqual(before);
});
