import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/demo.js';
import { reportOverdueBills } from '../../../../src/modules/bills/payment-terms/report-overdue.js';
import { makeBilling, newBill, tally } from '../../../support/builders/billing.js';
import { insertBill } from '../../../support/builders/bills.js';
import { HRB, IEX, withChosenEvents } from './chosen-receivers.js';

const { api, db, service, received, choose, storedTypes, forget } = withChosenEvents();
const billing = () => makeBilling(service());
const ALL = ['bill.published', 'bill.paid', 'bill.reopened', 'bill.overdue'];

const reportOverdue = () => reportOverdueBills({ db: service().db, stopping: new AbortController().signal });

beforeEach(async () => {
  await forget();
  await choose(IEX, ...ALL);
  await choose(HRB, ...ALL);
});

const billsOf = async (courierId: string) =>
  (await received(courierId)).map(({ type, data }) => [type, data] as const);

/** Inserts a published bill of 10.00 that was due as many days ago as given. */
async function insertDue(
  courierId: string,
  daysLate: number,
  tenantId: string = DEMO.tenants.demo,
): Promise<string> {
  const { id } = await insertBill(service().owner, {
    tenantId,
    courierId,
    start: '2024-01-01',
    end: '2024-01-31',
    amount: '10.00',
  });
  await db.query(
    `update bills set status = 'published', published_at = now() - interval '1 year',
       due_date = (now() at time zone 'UTC')::date - $2::int where id = $1`,
    [id, daysLate],
  );
  return id;
}

describe('bill events', () => {
  test('a draft sends nothing, its publication and its last payment send the bill, to its courier only', async () => {
    const billId = await newBill(billing(), IEX, 8);
    expect(await billsOf(IEX)).toEqual([]);
    const published = (await billing().publish(billId)).body['data'];
    await billing().pay(billId, 5);
    await billing().pay(billId, 15);
    const [first, last, ...more] = await billsOf(IEX);
    expect(more).toEqual([]);
    const amounts = { bill_id: billId, total_amount: 20, currency: 'USD', due_date: published.due_date };
    expect(first).toMatchObject([
      'bill.published',
      {
        ...amounts,
        invoice_number: published.invoice_number,
        paid_amount: 0,
        balance: 20,
        status: 'published',
      },
    ]);
    expect(first?.[1]['published_at']).toBe(`${published.published_at.replace(' ', 'T')}Z`);
    expect(last).toMatchObject(['bill.paid', { ...amounts, paid_amount: 20, balance: 0, status: 'paid' }]);
    expect(await received(HRB)).toEqual([]);
  });

  test('a voided payment reopens a paid bill once, and one that did not settle it sends nothing', async () => {
    const billId = await newBill(billing(), IEX, 8);
    await billing().publish(billId);
    const first = await billing().pay(billId, 5);
    const second = await billing().pay(billId, 15);
    const ids = [first, second].map(({ body }) => body['data'].payment_id);
    for (const id of [ids[1], ids[1], ids[0]]) await billing().unpay(id);
    await billing().pay(billId, 20);
    expect((await billsOf(IEX)).map(([type, { status, balance }]) => [type, status, balance])).toEqual([
      ['bill.published', 'published', 20],
      ['bill.paid', 'paid', 0],
      ['bill.reopened', 'published', 15],
      ['bill.paid', 'paid', 0],
    ]);
    expect(await received(HRB)).toEqual([]);
  });

  test('a bill of 0.00 is published and paid at once', async () => {
    const billId = await newBill(billing(), IEX, -12);
    await billing().publish(billId);
    expect((await billsOf(IEX)).map(([type]) => type)).toEqual(['bill.published', 'bill.paid']);
  });

  test('of 20 publications and of 20 last payments of a bill at once, one sends an event', async () => {
    const billId = await newBill(billing(), IEX);
    const publications = await Promise.all(Array.from({ length: 20 }, () => billing().publish(billId)));
    expect(tally(publications)['200']).toBe(1);
    const payments = await Promise.all(Array.from({ length: 20 }, () => billing().pay(billId, 12)));
    expect(tally(payments)['200']).toBe(1);
    expect((await billsOf(IEX)).map(([type]) => type)).toEqual(['bill.published', 'bill.paid']);
  });

  test('a run sends one event per published bill, each to its courier', async () => {
    for (const courierId of [IEX, HRB]) await newBill(billing(), courierId);
    await api.as('manager').manageBillingRun({ action: 'publish', month: '2024-05' }).ok();
    for (const courierId of [IEX, HRB]) {
      const bills = await db.query(
        `select id from bills where courier_id = $1 and status = 'published' and start_date = '2024-05-01'
           and published_at > now() - interval '1 minute'`,
        [courierId],
      );
      const sent = (await billsOf(courierId)).map(([type, { bill_id }]) => [type, bill_id]);
      const known = new Set(bills.map(({ id }) => id));
      expect(sent.length).toBeGreaterThan(0);
      expect(sent.filter(([type, id]) => type !== 'bill.published' || !known.has(id))).toEqual([]);
    }
  });

  test('an overdue bill is reported once, whatever is paid and voided later; one that is due today is not', async () => {
    const billId = await insertDue(IEX, 1);
    await insertDue(IEX, 0);
    await Promise.all([reportOverdue(), reportOverdue(), reportOverdue()]);
    await reportOverdue();
    const paid = await billing().pay(billId, 10);
    await billing().unpay(paid.body['data'].payment_id);
    await reportOverdue();
    const own = (await billsOf(IEX)).filter(([, { bill_id }]) => bill_id === billId);
    expect(own.map(([type, { balance }]) => [type, balance])).toEqual([
      ['bill.overdue', 10],
      ['bill.paid', 0],
      ['bill.reopened', 10],
    ]);
    expect((await billsOf(IEX)).filter(([type]) => type === 'bill.overdue')).toHaveLength(1);
    expect((await billsOf(HRB)).filter(([, { bill_id }]) => bill_id === billId)).toEqual([]);
  });

  test.each([
    ['demo', 'two'],
    ['two', 'demo'],
  ] as const)(
    'tenant %s, whose statements fail, does not keep %s from its reports',
    async (failing, other) => {
      const ids = {
        demo: await insertDue(IEX, 1),
        two: await insertDue(DEMO.couriers.TWO, 1, DEMO.tenants.two),
      };
      await service().owner.query(`
      create function refuse_overdue() returns trigger language plpgsql as $$
      begin raise exception 'refused' using errcode = '57P03'; end $$;
      create trigger refuse_overdue before update of overdue_at on bills for each row
        when (old.tenant_id = '${DEMO.tenants[failing]}') execute function refuse_overdue()`);
      await expect(reportOverdue()).rejects.toThrow('refused');
      const reported = await db.query<{ id: string }>(
        'select id from bills where id = any($1) and overdue_at is not null',
        [Object.values(ids)],
      );
      expect(reported).toEqual([{ id: ids[other] }]);
      await service().owner.query('drop trigger refuse_overdue on bills; drop function refuse_overdue()');
      await reportOverdue();
    },
  );

  test('a bill that was overdue before its courier chose the type is not reported later', async () => {
    await db.query(`update couriers set add_package_events = '{}'`);
    await insertDue(IEX, 3);
    await reportOverdue();
    await choose(IEX, ...ALL);
    await reportOverdue();
    expect(await storedTypes(IEX)).toEqual([]);
  });
});
