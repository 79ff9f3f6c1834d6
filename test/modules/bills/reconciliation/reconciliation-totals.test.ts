import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { lastYear } from '../../../support/builders/bills.js';
import { withService } from '../../../support/fixture/with-service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { makeReconciliation, type Check, MAY, PUBLISHED } from './reconciled-rows.js';

const { IEX, HRB, TWO } = DEMO.couriers;

const fixture = withService();
const { api, service } = fixture;
const { reconcile, newCourier, receive, bill, change } = makeReconciliation(fixture);

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
