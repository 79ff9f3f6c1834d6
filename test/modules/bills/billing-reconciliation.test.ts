import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { checkBills } from '../../../src/modules/bills/reconciliation/check-queries.js';
import { pageOfExceptions } from '../../../src/modules/bills/reconciliation/exception-queries.js';
import {
  countReceived,
  figuresOfPackages,
} from '../../../src/modules/bills/reconciliation/figures-queries.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql, type Sql } from '../../../src/platform/db/statements.js';
import { lastYear, insertBill, type InsertedBill } from '../../support/builders/bills.js';
import { clone, freshNumber } from '../../support/builders/couriers.js';
import { rounds } from '../../support/harness/effort.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';
const MAY = { from: '2024-05-01', to: '2024-05-31' };
const MAY_BILL = { start: '2024-05-01', end: '2024-05-31' };
const NO_REASONS = {
  owner_unknown: 0,
  not_billed: 0,
  left_out: 0,
  no_tier: 0,
  weight_changed: 0,
  courier_changed: 0,
  fee_changed: 0,
  outside_period: 0,
};

const { api, service } = withService();

type Query = Record<string, string | number>;
const reconcile = (query: Query, as = 'admin') => api.as(as).getBillingReconciliation(unchecked(query));

type Exception = { package_id: string; reasons: string[] } & Record<string, unknown>;
type Check = { check: string; expected: number; found: number; differing: number; ties: boolean };

/** Creates a courier with a fee of 5.00 up to 10 lb and 12.50 up to 50 lb. */
async function newCourier(name = 'Courier'): Promise<string> {
  const id = randomUUID();
  const { owner } = service();
  await owner.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $4)', [
    DEMO.tenants.demo,
    id,
    id.slice(0, 8),
    `${name} ${id}`,
  ]);
  await owner.query(
    `insert into rate_tiers (tenant_id, courier_id, start_weight_lb, end_weight_lb, fee_usd)
     values ($1, $2, 0, 10, 5), ($1, $2, 10, 50, 12.5)`,
    [DEMO.tenants.demo, id],
  );
  return id;
}

const receive = (courierId: string | null, weight: string, receivedAt = '2024-05-15T12:00:00Z') => {
  const number = freshNumber();
  return clone(service().owner, 'packages', DEMO.packages.available.IEX[0] ?? '', {
    courier_id: courierId,
    weight_lb: weight,
    received_at: receivedAt,
    user_code: null,
    tracking_number: number,
    tracking_key: number,
    house_number: number,
    prealert_id: null,
  });
};

const bill = (courierId: string, rest: Partial<InsertedBill>) =>
  insertBill(service().owner, { courierId, ...MAY_BILL, ...rest });

const change = (table: string, id: string, set: string) =>
  service().owner.query(`update ${table} set ${set} where id = $1`, [id]);

const PUBLISHED = { publishedAt: '2024-06-01T10:00:00Z' };

describe('billing reconciliation per package', () => {
  let courierId: string;
  beforeEach(async () => {
    courierId = await newCourier();
  });

  const reconcileMay = async (query: Query = {}) =>
    (await reconcile({ courier_id: courierId, ...MAY, ...query }).ok()).data;
  const reasonsOf = async (packageId: string) =>
    ((await reconcileMay()).exceptions as Exception[]).find((each) => each.package_id === packageId)?.reasons;

  test("gives no reason for a correctly billed package and counts it under its bill's status", async () => {
    const [published, draft] = [await receive(courierId, '3'), await receive(courierId, '10.001')];
    await bill(courierId, { ...PUBLISHED, lines: [{ packageId: published, amount: '5.00' }] });
    await bill(courierId, { lines: [{ packageId: draft, amount: '12.50' }] });
    const { summary, couriers, exceptions } = await reconcileMay();
    expect(exceptions).toEqual([]);
    expect(summary).toEqual({
      packages_received: 2,
      weight: 13.001,
      exceptions: 0,
      reasons: NO_REASONS,
      published: { packages: 1, weight: 3, fees: 5 },
      drafts: { packages: 1, weight: 10.001, fees: 12.5 },
      unbilled: { packages: 0, weight: 0, fees: 0 },
    });
    expect(couriers).toMatchObject([{ courier_id: courierId, ...summary }]);
  });

  test('reports a package without a bill as not_billed, with its fee under the current rates', async () => {
    const packageId = await receive(courierId, '10');
    const { summary, exceptions } = await reconcileMay();
    expect(exceptions).toEqual([
      {
        package_id: packageId,
        reasons: ['not_billed'],
        weight: 10,
        fee: 5,
        courier_id: courierId,
        tracking_number: expect.any(String),
        house_number: expect.any(String),
        courier_name: expect.any(String),
        received_at: '2024-05-15 12:00:00',
        bill_id: null,
        invoice_number: null,
        bill_status: null,
        billed_courier_id: null,
        billed_weight: null,
        billed_fee: null,
      },
    ]);
    expect(summary.unbilled).toEqual({ packages: 1, weight: 10, fees: 5 });
    expect([summary.exceptions, summary.reasons]).toEqual([1, { ...NO_REASONS, not_billed: 1 }]);
  });

  test('reports a package as left_out if a bill covers its courier and day, including the first and last day', async () => {
    await bill(courierId, { start: '2024-05-10', end: '2024-05-15', ...PUBLISHED, amount: '1.00' });
    await bill(courierId, { start: '2024-05-20', end: '2024-05-21' });
    const at = (moment: string) => receive(courierId, '1', moment);
    const before = await at('2024-05-09T23:59:59.999Z');
    const [first, last] = [await at('2024-05-10T00:00:00Z'), await at('2024-05-15T23:59:59.999Z')];
    const [between, ofDraft] = [await at('2024-05-16T00:00:00Z'), await at('2024-05-20T12:00:00Z')];
    for (const id of [first, last, ofDraft]) expect(await reasonsOf(id)).toEqual(['left_out']);
    for (const id of [before, between]) expect(await reasonsOf(id)).toEqual(['not_billed']);
  });

  test('reports a package as not_billed if only a bill of another courier covers its day', async () => {
    await bill(await newCourier(), PUBLISHED);
    expect(await reasonsOf(await receive(courierId, '1'))).toEqual(['not_billed']);
  });

  test('reports a package outside all tiers as no_tier, billed or not', async () => {
    const [billed, unbilled] = [await receive(courierId, '50.001'), await receive(courierId, '60')];
    await bill(courierId, { ...PUBLISHED, lines: [{ packageId: billed, amount: '0', tier: null }] });
    expect(await reasonsOf(billed)).toEqual(['no_tier']);
    expect(await reasonsOf(unbilled)).toEqual(['left_out', 'no_tier']);
    expect((await reconcileMay()).exceptions).toMatchObject([{ fee: 0 }, { fee: 0 }]);
  });

  describe('with a weight changed after intake', () => {
    const weigh = async (packageId: string, weight: number, as = 'warehouse') =>
      expect((await api.as(as).updatePackage({ package_id: packageId, weight }).ok()).data).toMatchObject({
        fields_updated: 1,
      });

    test('reports weight_changed before billing, with the intake weight and the user who changed it last', async () => {
      const packageId = await receive(courierId, '42.27');
      await weigh(packageId, 9);
      await weigh(packageId, 0.001, 'manager');
      const { exceptions, summary } = await reconcileMay();
      const [row] = (
        await service().owner.query(
          "select full_name from users where username = 'manager' and tenant_id = $1",
          [DEMO.tenants.demo],
        )
      ).rows;
      expect(exceptions).toMatchObject([
        {
          reasons: ['not_billed', 'weight_changed'],
          weight: 0.001,
          billed_weight: null,
          weight_change: {
            before: 42.27,
            after: 0.001,
            changed_by: row.full_name,
            changed_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
          },
        },
      ]);
      expect(summary.reasons.weight_changed).toBe(1);
    });

    test('reports weight_changed if the bill has the changed weight and if the weight was changed back', async () => {
      const [billed, restored] = [await receive(courierId, '42.27'), await receive(courierId, '5')];
      await weigh(billed, 1);
      await bill(courierId, { ...PUBLISHED, lines: [{ packageId: billed, amount: '5.00' }] });
      await weigh(restored, 4);
      await weigh(restored, 5);
      expect(await reasonsOf(billed)).toEqual(['weight_changed']);
      expect(await reasonsOf(restored)).toEqual(['left_out', 'weight_changed']);
      const { exceptions } = await reconcileMay();
      const changeOf = (id: string) =>
        exceptions.find((each: Exception) => each.package_id === id)?.['weight_change'];
      expect(changeOf(restored)).toMatchObject({ before: 5, after: 5 });
      expect(changeOf(billed)).toMatchObject({ before: 42.27, after: 1 });
    });

    test('stores the intake weight append-only in the database', async () => {
      const packageId = await receive(courierId, '7');
      await weigh(packageId, 6);
      const rewrite = service().owner.query(
        'update package_weights set received_weight_lb = 1 where package_id = $1',
        [packageId],
      );
      await expect(rewrite).rejects.toThrow(/append-only/);
    });
  });

  test('reports both weights and both fees if the weight changed after billing', async () => {
    const packageId = await receive(courierId, '9.999');
    await bill(courierId, { ...PUBLISHED, lines: [{ packageId, amount: '5.00' }] });
    await change('packages', packageId, 'weight_lb = 10.001');
    const { exceptions, summary } = await reconcileMay();
    expect(exceptions).toMatchObject([
      { reasons: ['weight_changed'], weight: 10.001, billed_weight: 9.999, fee: 12.5, billed_fee: 5 },
    ]);
    // The published bill is unchanged.
    expect(summary.published).toEqual({ packages: 1, weight: 10.001, fees: 5 });
  });

  test('shows a billed package that moved to another courier to both couriers', async () => {
    const other = await newCourier();
    const packageId = await receive(courierId, '1');
    const { id } = await bill(courierId, { ...PUBLISHED, lines: [{ packageId, amount: '5.00' }] });
    await change('packages', packageId, `courier_id = '${other}'`);
    for (const courier_id of [courierId, other]) {
      const data = await reconcileMay({ courier_id });
      expect(data.exceptions).toMatchObject([
        { reasons: ['courier_changed'], courier_id: other, billed_courier_id: courierId, bill_id: id },
      ]);
      expect(data.checks[0]).toMatchObject({ check: 'packages', expected: 1, found: 1, ties: true });
    }
    await change('packages', packageId, 'courier_id = null');
    expect((await reconcileMay()).exceptions).toMatchObject([
      { reasons: ['courier_changed'], courier_id: null },
    ]);
  });

  test('reports fee_changed for drafts but not for published bills if the rates have changed', async () => {
    const [published, draft] = [await receive(courierId, '1'), await receive(courierId, '1')];
    await bill(courierId, { ...PUBLISHED, lines: [{ packageId: published, amount: '5.00' }] });
    await bill(courierId, { lines: [{ packageId: draft, amount: '5.00' }] });
    await service().owner.query(
      'update rate_tiers set fee_usd = 5.01 where courier_id = $1 and fee_usd = 5',
      [courierId],
    );
    expect((await reconcileMay()).exceptions).toMatchObject([
      { package_id: draft, reasons: ['fee_changed'], fee: 5.01, billed_fee: 5, bill_status: 'draft' },
    ]);
  });

  test('reports outside_period for a package on a bill of another period', async () => {
    const packageId = await receive(courierId, '1');
    const april = { start: '2024-04-01', end: '2024-04-30' };
    await bill(courierId, { ...april, ...PUBLISHED, lines: [{ packageId, amount: '5.00' }] });
    expect(await reasonsOf(packageId)).toEqual(['outside_period']);
  });

  test('reports a package without a courier as owner_unknown, without a fee', async () => {
    const packageId = await receive(null, '4', '2024-03-15T12:00:00Z');
    const { data } = await reconcile({ from: '2024-03-15', to: '2024-03-15' }).ok();
    expect(data.exceptions).toMatchObject([
      { package_id: packageId, reasons: ['owner_unknown'], courier_id: null, courier_name: null, fee: null },
    ]);
    expect(data.couriers).toMatchObject([
      { courier_id: null, courier_code: null, unbilled: { packages: 1, weight: 4, fees: 0 } },
    ]);
  });

  test('selects packages by their UTC day of receipt, both ends inclusive', async () => {
    const moments = [
      '2024-02-28T23:59:59.999Z',
      '2024-02-29T00:00:00Z',
      '2024-02-29T23:59:59.999Z',
      '2024-03-01T00:00:00Z',
    ];
    const ids: string[] = [];
    for (const moment of moments) ids.push(await receive(courierId, '1', moment));
    const { exceptions, summary, checks } = await reconcileMay({ from: '2024-02-29', to: '2024-02-29' });
    expect(summary.packages_received).toBe(2);
    expect(checks[0]).toMatchObject({ expected: 2, found: 2 });
    expect((exceptions as Exception[]).map((each) => ids.indexOf(each.package_id))).toEqual([2, 1]);
  });
});

describe('billing reconciliation totals', () => {
  test('match the preview of each courier and add up to the summary', async () => {
    const query = { ...lastYear(), limit: 1 };
    for (const [as, ids] of [
      ['admin', [IEX, HRB]],
      ['two/admin', [TWO]],
    ] as const) {
      const { data } = await reconcile(query, as).ok();
      for (const courier_id of ids) {
        const own = data.couriers.find((each) => each.courier_id === courier_id);
        const body = { courier_id, start_date: query.from, end_date: query.to };
        const preview = (await api.as(as).previewCourierInvoice(body).ok()).data;
        const fees = (own?.published.fees ?? 0) + (own?.drafts.fees ?? 0) + (own?.unbilled.fees ?? 0);
        expect(cents(fees)).toBe(cents(preview.summary.total_fees));
        expect(own?.packages_received).toBe(preview.summary.total_packages);
        expect(own?.weight).toBe(preview.summary.total_weight);
      }
      for (const heap of ['published', 'drafts', 'unbilled'] as const) {
        const total = data.couriers.reduce((sum, each) => sum + cents(each[heap].fees), 0);
        expect(total).toBe(cents(data.summary[heap].fees));
      }
    }
  });

  test('match for the demo data, and packages without a courier have their reason', async () => {
    const { data, message } = await reconcile(lastYear(), 'manager').answer();
    const { summary, checks, bills, differing_bills } = data;
    expect(message).toMatch(/Everything ties\.$/);
    expect(checks.map(({ ties }: Check) => ties)).toEqual(Array(7).fill(true));
    expect([bills, differing_bills]).toEqual([3, []]);
    const { rows } = await service().owner.query<{ received: number; unknown: number }>(
      `select count(*)::int as received, count(*) filter (where courier_id is null)::int as unknown
       from packages where tenant_id = $1 and received_at >= $2`,
      [DEMO.tenants.demo, lastYear().from],
    );
    expect([summary.packages_received, summary.reasons.owner_unknown]).toEqual([
      rows[0]?.received,
      rows[0]?.unknown,
    ]);
    expect(summary.drafts.packages).toBeGreaterThan(0);
  });

  test('are zero and match for an empty period', async () => {
    const { message, data } = await reconcile({ from: '2001-01-01', to: '2001-01-31' }).answer();
    expect(message).toBe('0 packages, 0 with a reason to look at them. Everything ties.');
    expect(data).toMatchObject({ couriers: [], bills: 0, exceptions: [], differing_bills: [] });
    expect(data.checks).toHaveLength(7);
  });

  const cents = (usd: number) => Math.round(usd * 100);
});

describe('billing reconciliation checks', () => {
  let courierId: string;
  beforeEach(async () => {
    courierId = await newCourier();
  });
  const runChecks = async () => {
    const { data, message } = await reconcile({ courier_id: courierId, ...MAY }).answer();
    const { checks, differing_bills: differing } = data;
    return { checks: checks as Check[], differing, message: message };
  };
  const failing = (checks: Check[]) => checks.filter(({ ties }) => !ties);

  test.each([
    ['bill_packages', 'total_packages = 7', 7, 1],
    ['bill_subtotals', 'subtotal = 6, tax_amount = 0.6, total_amount = 6.6', 6, 5],
    ['bill_taxes', 'tax_amount = 0.51, total_amount = 5.51', 0.51, 0.5],
  ])('%s fails for a draft with wrong totals and names the bill', async (check, set, expected, found) => {
    const lines = [{ packageId: await receive(courierId, '1'), amount: '5.00' }];
    const { id } = await bill(courierId, { lines, taxRate: '10' });
    expect(failing((await runChecks()).checks)).toEqual([]);
    await change('bills', id, set);
    const { checks, differing, message } = await runChecks();
    expect(failing(checks)).toEqual([{ check, expected, found, differing: 1, ties: false }]);
    expect(differing).toMatchObject([{ bill_id: id, check, expected, found }]);
    expect(message).toMatch(/1 check does not tie\. See checks\.$/);
  });

  test('bill_payments and bill_statuses fail if the paid amount differs from the payments', async () => {
    const payments = [
      { amount: '3.00', receivedOn: '2024-06-02' },
      { amount: '2.00', receivedOn: '2024-06-03', voidedAt: '2024-06-04T10:00:00Z' },
    ];
    const { id } = await bill(courierId, { amount: '5.00', ...PUBLISHED, payments });
    expect(failing((await runChecks()).checks)).toEqual([]);
    await change('bills', id, 'paid_amount = 5');
    const { checks } = await runChecks();
    expect(failing(checks)).toEqual([
      { check: 'bill_payments', expected: 5, found: 3, differing: 1, ties: false },
      { check: 'bill_statuses', expected: 0, found: 1, differing: 1, ties: false },
    ]);
  });

  test('detect two bills whose errors cancel each other out', async () => {
    const ids = [];
    for (const packages of [1, -1]) {
      const { id } = await bill(courierId, { amount: '5.00' });
      await change('bills', id, `total_packages = total_packages + ${packages}`);
      ids.push(id);
    }
    const { checks, differing } = await runChecks();
    expect(failing(checks)).toEqual([
      { check: 'bill_packages', expected: 0, found: 0, differing: 2, ties: false },
    ]);
    expect(differing.map((each: { bill_id: string }) => each.bill_id).sort()).toEqual(ids.sort());
  });

  test('cover exactly the bills whose period overlaps the requested one', async () => {
    const april = await bill(courierId, { start: '2024-04-01', end: '2024-04-30', amount: '1.00' });
    const june = await bill(courierId, { start: '2024-06-01', end: '2024-06-30', amount: '1.00' });
    const edges = [
      await bill(courierId, { start: '2024-04-01', end: '2024-05-01', amount: '1.00' }),
      await bill(courierId, { start: '2024-05-31', end: '2024-06-30', amount: '1.00' }),
    ];
    for (const { id } of [april, june, ...edges]) await change('bills', id, 'total_packages = 9');
    const { checks, differing } = await runChecks();
    expect(checks[2]).toMatchObject({ check: 'bill_subtotals', expected: 2, found: 2 });
    expect(differing.map((each: { bill_id: string }) => each.bill_id).sort()).toEqual(
      edges.map(({ id }) => id).sort(),
    );
  });
});

describe('billing reconciliation exceptions', () => {
  test('are paged newest first without duplicates, and every page has the totals of all packages', async () => {
    const courierId = await newCourier();
    const ids: string[] = [];
    // Several share a timestamp, so that the id breaks the tie.
    for (let n = 0; n < 11; n += 1)
      ids.push(await receive(courierId, '1', `2024-05-${10 + Math.floor(n / 3)}T12:00:00Z`));
    const query = { courier_id: courierId, ...MAY };
    const whole = (await reconcile(query).ok()).data;
    const found: Exception[] = [];
    for (let before: string | null = ''; before !== null;) {
      const { data, meta } = await reconcile({ ...query, limit: 4, ...(before ? { before } : {}) }).answer();
      expect({ ...data, exceptions: [] }).toEqual({ ...whole, exceptions: [] });
      found.push(...data.exceptions);
      before = meta.next_before;
      expect(meta.limit).toBe(4);
    }
    expect(found).toEqual(whole.exceptions);
    expect(found.map((each) => each.package_id).sort()).toEqual(ids.sort());
    const moments = found.map((each) => String(each['received_at']));
    expect(moments).toEqual([...moments].sort().reverse());
  });

  test('are empty if before names an unknown package or one of another tenant', async () => {
    for (const before of [UNKNOWN_ID, DEMO.packages.two[0] ?? '']) {
      const { data, meta } = await reconcile({ ...lastYear(), before }).answer();
      expect([data.exceptions, meta.next_before]).toEqual([[], null]);
    }
  });
});

describe('billing reconciliation of one courier', () => {
  const admin = {
    kind: 'user' as const,
    tenantId: DEMO.tenants.demo,
    userId: DEMO.users.admin,
    role: 'admin' as const,
    courierId: null,
    tokenVersion: 1,
    expiresAt: Math.floor(Date.now() / 1000) + 3_600,
  };
  type Plan = { Plans?: Plan[] } & Record<string, unknown>;
  type Explained = { 'QUERY PLAN': [{ Plan: Plan }] };

  /** Returns the number of rows that a statement reads from packages and bill lines, also those that it drops. */
  async function rowsReadBy(statement: Sql): Promise<number> {
    const explained = sql<Explained>`explain (analyze, timing off, format json) ${statement}`;
    // A table of the test fits into so few blocks that PostgreSQL may read all of it.
    const useIndexes = sql`select set_config('enable_seqscan', 'off', true)`;
    const [, [row]] = await makeContext(service().db, admin, 'a-request').read([useIndexes, explained]);
    if (!row) throw new Error('EXPLAIN returned no row.');
    return rowsOf(row['QUERY PLAN'][0].Plan);
  }

  function rowsOf(plan: Plan): number {
    const below = (plan.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0);
    if (!['packages', 'bill_lines'].includes(String(plan['Relation Name']))) return below;
    const counts = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Index Recheck'];
    const perLoop = counts.reduce((sum, key) => sum + Number(plan[key] ?? 0), 0);
    return below + perLoop * Number(plan['Actual Loops']);
  }

  /** Creates packages of the courier in May 2023 with a bill of all of them. */
  async function billMany(courierId: string, count: number): Promise<void> {
    const { owner } = service();
    const billId = await bill(courierId, { start: '2023-05-01', end: '2023-05-31', lines: [] });
    await owner.query(
      `with received as (
         insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb,
           warehouse_id, received_at)
         select $1, gen_random_uuid(), $2::uuid, $2::uuid || '-' || n, $2::uuid || '-' || n, $2::uuid || '-' || n, 1, $3,
           '2023-05-01T00:00:00Z'::timestamptz + n * interval '1 minute'
         from generate_series(1, $4::int) n returning *)
       insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, package_id, tracking_number,
         house_number, received_at, weight_lb, amount_usd)
       select tenant_id, gen_random_uuid(), $5, courier_id, row_number() over (), 'package', id, tracking_number,
         house_number, received_at, weight_lb, 5
       from received`,
      [DEMO.tenants.demo, courierId, DEMO.warehouses.primary, count, billId.id],
    );
    await owner.query('vacuum analyze packages');
    await owner.query('vacuum analyze bill_lines');
  }

  test('reads the packages of the courier and those that were billed to it, but no others', async () => {
    const [courierId, other] = [await newCourier(), await newCourier()];
    await billMany(courierId, 50);
    await billMany(other, rounds(10_000, 20_000));
    await service().owner.query(
      'update packages set courier_id = $2 where id = (select id from packages where courier_id = $1 limit 1)',
      [courierId, other],
    );
    const ctx = makeContext(service().db, admin, 'a-request');
    const period = { courierId, from: '2023-05-01', to: '2023-05-31' };
    const page = { before: undefined, limit: 100 };
    for (const statement of [
      figuresOfPackages(ctx, period),
      countReceived(ctx, period),
      checkBills(ctx, period),
      pageOfExceptions(ctx, period, page),
    ])
      // Each package and its line, several times.
      expect(await rowsReadBy(statement)).toBeLessThan(500);
    const { data } = await reconcile({ courier_id: courierId, from: period.from, to: period.to }).ok();
    expect([data.summary.packages_received, data.summary.reasons.courier_changed]).toEqual([50, 1]);
  }, 60_000);
});

describe('billing reconciliation access', () => {
  test('is granted to managers and denied to the warehouse role, couriers, anonymous callers and disabled accounts', async () => {
    for (const as of ['warehouse', 'iex']) await reconcile(MAY, as).refused(403, 'permission_denied');
    await api.anonymous.getBillingReconciliation(MAY).refused(401, 'token_missing');
    await reconcile(MAY, 'disabled').refused(403, 'account_disabled');
  });

  test("responds to another tenant's courier as to an unknown one", async () => {
    for (const courier_id of [TWO, UNKNOWN_ID])
      await reconcile({ courier_id, ...MAY }).refused(404, 'courier_not_found');
  });

  test('never includes packages or bills of another tenant', async () => {
    const { data } = await reconcile(lastYear(), 'two/admin').ok();
    expect(data.bills).toBe(0);
    expect(data.couriers.map((each) => each.courier_id)).toEqual([TWO]);
  });
});

test.each([
  [{ from: '2024-05-02', to: '2024-05-01' }, 'to'],
  [{ from: '2024-01-01', to: '2025-01-01' }, 'to'],
  [{ to: '2024-05-01' }, 'from'],
  [{ from: '2024-05-01' }, 'to'],
  [{ from: '2024-05-01', to: '2024-02-30' }, 'to'],
])('rejects the period %j with 400 and names %s', async (query, field) => {
  await reconcile(query).refused(400, 'validation_failed', field);
});

test('accepts a period of 366 days in any year', async () => {
  for (const [from, to] of [
    ['2024-01-01', '2024-12-31'],
    ['2025-03-01', '2026-03-01'],
    ['0001-01-01', '0001-12-31'],
    ['9999-01-01', '9999-12-31'],
  ] as const)
    await reconcile({ from, to }).ok();
});

test('reconciliation and statement agree for a bill that the API drafted, adjusted, published and paid', async () => {
  const courierId = await newCourier();
  for (const weight of ['10', '10.001', '50']) await receive(courierId, weight);
  const manage = async (body: object) => {
    const reply = await api.as('manager').manageCourierBills(unchecked(body)).ok();
    expect(reply.body).toMatchObject({ status: 'success' });
    return reply.data;
  };
  const { bill_id } = await manage({
    action: 'create_draft',
    courier_id: courierId,
    start_date: MAY.from,
    end_date: MAY.to,
    service_type: 'Air',
    tax_rate: 7.125,
  });
  await manage({ action: 'add_adjustment', bill_id, description: 'Storage', amount: 1.01 });
  const published = await manage({ action: 'publish', bill_id });
  const pay = (amount: number) => manage({ action: 'record_payment', bill_id, amount, method: 'cash' });
  const { payment_id } = await pay(5);
  await manage({ action: 'void_payment', payment_id, reason: 'Twice' });
  await pay(published.total_amount - 0.01);

  const reconciled = (await reconcile({ courier_id: courierId, ...MAY }).ok()).body;
  expect(reconciled['message']).toBe('3 packages, 0 with a reason to look at them. Everything ties.');
  expect(reconciled['data'].summary.published).toEqual({ packages: 3, weight: 70.001, fees: 30 });
  const query = { courier_id: courierId, ...lastYear() };
  const { data } = await api.as('admin').getCourierStatement(query).ok();
  expect(data.movements.map(({ kind }: { kind: string }) => kind)).toEqual([
    'bill',
    'payment',
    'payment_voided',
    'payment',
  ]);
  // 31.01 plus 7.125 % tax (2.2094625).
  expect([data.billed, data.closing_balance, data.ageing.days_0_30]).toEqual([33.22, 0.01, 0.01]);
});

// Must run last: it drops the constraints that make both errors impossible.
test('detects a package on two bills and a total that is not the sum of its lines', async () => {
  await service().owner.query('drop index bill_lines_tenant_id_package_id_key');
  await service().owner.query('alter table bills drop constraint total_is_the_sum');
  const courierId = await newCourier();
  const lines = [{ packageId: await receive(courierId, '1'), amount: '5.00' }];
  const ids = [(await bill(courierId, { lines })).id, (await bill(courierId, { lines })).id];
  await change('bills', ids[1] ?? '', 'total_amount = 5.01');
  const { checks, differing_bills: differing } = (await reconcile({ courier_id: courierId, ...MAY }).ok())
    .data;
  expect(checks.filter(({ ties }: Check) => !ties)).toEqual([
    { check: 'packages', expected: 1, found: 2, differing: 0, ties: false },
    { check: 'bill_totals', expected: 10.01, found: 10, differing: 1, ties: false },
  ]);
  expect(differing).toMatchObject([{ bill_id: ids[1], check: 'bill_totals', expected: 5.01, found: 5 }]);
});
