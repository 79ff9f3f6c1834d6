import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { checkBills } from '../../../../src/modules/bills/reconciliation/check-queries.js';
import { pageOfExceptions } from '../../../../src/modules/bills/reconciliation/exception-queries.js';
import {
  countReceived,
  figuresOfPackages,
} from '../../../../src/modules/bills/reconciliation/figures-queries.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { sql, type Sql } from '../../../../src/platform/db/statements.js';
import { lastYear } from '../../../support/builders/bills.js';
import { rounds } from '../../../support/harness/effort.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeReconciliation, MAY, type Exception, UNKNOWN_ID } from './reconciled-rows.js';

const { TWO } = DEMO.couriers;

const fixture = withService();
const { api, service } = fixture;
const { newCourier, receive, reconcile, bill } = makeReconciliation(fixture);

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
