import { randomInt } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertBill } from '../../support/builders/bills.js';
import { withService, type Fixture } from '../../support/fixture/with-service.js';
import { withBilling } from './billing-calls.js';
import { makeStatementCalls } from './statement-calls.js';

const { IEX, TWO } = DEMO.couriers;

const JANUARY = { start: '2024-01-01', end: '2024-01-31' };

const fixture = withBilling();
const { api, service, billing } = fixture;
const { newCourier, read } = makeStatementCalls(fixture);

const today = () => new Date().toISOString().slice(0, 10);
const list = async (query: { overdue?: boolean; page?: number; limit?: number } = {}) =>
  api
    .as('manager')
    .listCourierStatements({ limit: 500, ...query })
    .ok();

/** Inserts a published bill that is due so many days before today; negative: after today. */
async function insertDue({ service: of }: Fixture, courierId: string, amount: string, daysLate: number) {
  const isOfTwo = courierId === TWO;
  const tenantId = isOfTwo ? DEMO.tenants.two : DEMO.tenants.demo;
  const { id } = await insertBill(of().owner, { courierId, tenantId, ...JANUARY, amount });
  await of().owner.query(
    `update bills set status = 'published', published_at = now() - interval '1 year',
       due_date = (now() at time zone 'UTC')::date - $2::int where id = $1`,
    [id, daysLate],
  );
  return id;
}

describe('the accounts of all couriers', () => {
  test('have the balance and the ages of the statement of each courier until today', async () => {
    for (let made = 0; made < 6; made += 1) {
      const courierId = await newCourier();
      for (const late of [-40, 0, 1, 30, 31, 60, 61, 90, 91, 400]) {
        const billId = await insertDue(fixture, courierId, (10 + randomInt(9000) / 100).toFixed(2), late);
        if (late % 2 === 0) await billing.pay(billId, 4.37);
      }
      const paid = await insertDue(fixture, courierId, '5.00', 50);
      await billing.pay(paid, 5);
    }
    const { data: accounts, meta } = await list();
    expect(meta.as_of).toBe(today());
    const { rows } = await service().owner.query('select id from couriers where tenant_id = $1', [
      DEMO.tenants.demo,
    ]);
    expect(accounts.map(({ courier_id: id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort());
    expect(meta.total_records).toBe(accounts.length);
    for (const account of accounts) {
      const query = { courier_id: account.courier_id, from: '2000-01-01', to: today() };
      const { data: statement } = await read('manager', query).ok();
      const { credit, ...ages } = statement.due_ageing;
      expect(credit).toBe(0);
      expect([account.balance, account.due_ageing]).toEqual([statement.closing_balance, ages]);
      const { current, ...late } = account.due_ageing;
      const overdue = Object.values(late).reduce((sum, each) => sum + each, 0);
      expect(account.overdue).toBeCloseTo(overdue, 2);
      expect(account.balance).toBeCloseTo(current + overdue, 2);
    }
    const sum = (of: (account: (typeof accounts)[number]) => number) =>
      Number(accounts.reduce((total, account) => total + of(account), 0).toFixed(2));
    expect(meta.totals).toEqual({
      balance: sum(({ balance }) => balance),
      overdue: sum(({ overdue }) => overdue),
      unpaid_bills: sum(({ unpaid_bills: bills }) => bills),
      due_ageing: {
        current: sum(({ due_ageing: ages }) => ages.current),
        days_1_30: sum(({ due_ageing: ages }) => ages.days_1_30),
        days_31_60: sum(({ due_ageing: ages }) => ages.days_31_60),
        days_61_90: sum(({ due_ageing: ages }) => ages.days_61_90),
        days_over_90: sum(({ due_ageing: ages }) => ages.days_over_90),
      },
    });
  });

  test('begin with the largest overdue amount, page by page, with the same totals on each page', async () => {
    const [most, second, third] = [await newCourier(), await newCourier(), await newCourier()];
    await insertDue(fixture, most, '90000.00', 3);
    await insertDue(fixture, second, '80000.00', 40);
    await insertDue(fixture, second, '1.00', -5);
    await insertDue(fixture, third, '70000.00', 1);
    const { data: all, meta } = await list();
    expect(all.slice(0, 3).map(({ courier_id: id }) => id)).toEqual([most, second, third]);
    expect(all[1]).toMatchObject({ balance: 80_001, overdue: 80_000, unpaid_bills: 2 });
    expect(all.map(({ overdue }) => overdue)).toEqual(
      all.map(({ overdue }) => overdue).sort((a, b) => b - a),
    );
    const page = await list({ page: 2, limit: 2 });
    expect(page.data).toEqual(all.slice(2, 4));
    expect(page.meta.totals).toEqual(meta.totals);
  });

  test('show the earliest due date of an unpaid bill, and filter by overdue amounts', async () => {
    const [late, early, paid] = [await newCourier(), await newCourier(), await newCourier()];
    await insertDue(fixture, late, '10.00', 7);
    await insertDue(fixture, late, '10.00', 2);
    await insertDue(fixture, early, '10.00', 0);
    await billing.pay(await insertDue(fixture, paid, '10.00', 70), 10);
    const idsOf = async (overdue: boolean) => (await list({ overdue })).data.map(({ courier_id: id }) => id);
    expect(await idsOf(true)).toContain(late);
    expect(await idsOf(true)).toEqual(expect.not.arrayContaining([early, paid]));
    expect(await idsOf(false)).toEqual(expect.arrayContaining([early, paid]));
    expect(await idsOf(false)).toEqual(expect.not.arrayContaining([late]));
    const { data: accounts } = await list();
    const dueOf = (courierId: string) =>
      accounts.find(({ courier_id: id }) => id === courierId)?.oldest_due_date;
    const weekAgo = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
    expect([dueOf(late), dueOf(early), dueOf(paid)]).toEqual([weekAgo, today(), null]);
  });

  test('a draft and a bill of a release without due dates count as in the statement', async () => {
    const courierId = await newCourier();
    await insertBill(service().owner, { courierId, ...JANUARY, amount: '3.00' });
    await insertBill(service().owner, {
      courierId,
      ...JANUARY,
      amount: '7.00',
      publishedAt: '2024-02-01T12:00:00Z',
    });
    const account = (await list()).data.find(({ courier_id: id }) => id === courierId);
    expect(account).toMatchObject({ balance: 7, oldest_due_date: '2024-03-02', unpaid_bills: 1 });
  });

  test('are for administrators and managers only', async () => {
    await api.anonymous.listCourierStatements().refused(401, 'token_missing');
    for (const as of ['warehouse', 'iex'])
      await api.as(as).listCourierStatements().refused(403, 'permission_denied');
    await api.as('admin').listCourierStatements({ limit: 501 }).refused(400, 'validation_failed');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('the accounts with %s', (_name, options) => {
  const other = withService(options);

  test("contain no courier and no amount of another tenant's", async () => {
    const accountsOf = async (as: string) => {
      const { data: accounts, meta } = await other.api.as(as).listCourierStatements().ok();
      return { accounts, meta };
    };
    const before = await accountsOf('admin');
    expect(before.accounts.map(({ courier_id: id }) => id)).toContain(IEX);
    expect(before.accounts.map(({ courier_id: id }) => id)).not.toContain(TWO);
    await insertDue(other, TWO, '123456.00', 10);
    expect(await accountsOf('admin')).toEqual(before);
    const two = await accountsOf('two/admin');
    expect(two.accounts).toMatchObject([{ courier_id: TWO }]);
    expect(two.meta.totals.overdue).toBeGreaterThanOrEqual(123_456);
  });
});
