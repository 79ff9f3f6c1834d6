import { describe, expect, test } from '@jest/globals';
import { insertBill } from '../../../support/builders/bills.js';
import { newBill } from '../../../support/builders/billing.js';
import { data, withBilling } from '../billing-calls.js';
import { makeStatementCalls } from '../statement-calls.js';

const fixture = withBilling();
const { api, service, billing } = fixture;
const { read, newCourier } = makeStatementCalls(fixture);

const JANUARY = { start: '2024-01-01', end: '2024-01-31', amount: '10.00' };

/** The day that is `days` after the time, in UTC. */
const dayAfter = (time: string | Date, days: number) =>
  new Date(new Date(time).getTime() + days * 86_400_000).toISOString().slice(0, 10);

const setTerms = (courierId: string | null, days: number | null) =>
  api.as('manager').updatePaymentTerms({ courier_id: courierId, days }).ok();

/** Inserts a published bill of 10.00 with a due date as many days before today as given. */
async function insertDue(courierId: string, daysLate: number): Promise<string> {
  const { id } = await insertBill(service().owner, { courierId, ...JANUARY });
  await service().owner.query(
    `update bills set status = 'published', published_at = now() - interval '1 year',
       due_date = (now() at time zone 'UTC')::date - $2::int where id = $1`,
    [id, daysLate],
  );
  return id;
}

describe('due date', () => {
  test('a publication fixes the due date: the terms of the courier, else those of the tenant, else 30 days', async () => {
    const courierId = await billing.newCourier();
    const publish = async () => {
      const billId = await newBill(billing, courierId);
      expect(data(await billing.read(billId))).toMatchObject({ due_date: null, is_overdue: false });
      const published = data(await billing.publish(billId));
      const read = data(await billing.read(billId));
      expect(read).toMatchObject({ due_date: published.due_date, is_overdue: false });
      return { billId, published };
    };
    const first = await publish();
    expect(first.published.due_date).toBe(dayAfter(`${first.published.published_at}Z`, 30));
    await setTerms(null, 10);
    const second = await publish();
    expect(second.published.due_date).toBe(dayAfter(`${second.published.published_at}Z`, 10));
    await setTerms(courierId, 0);
    const last = await publish();
    expect(last.published.due_date).toBe(dayAfter(`${last.published.published_at}Z`, 0));
    await setTerms(null, null);
    // The first bill keeps its date.
    expect(data(await billing.read(first.billId)).due_date).toBe(first.published.due_date);
    const [entry] = (await fixture.auditOf(last.billId)).filter(({ action }) => action === 'bill.published');
    expect(entry?.['after']).toMatchObject({ due_date: last.published.due_date });
  });

  test('the database rejects another due date of a published bill', async () => {
    const billId = await insertDue(await newCourier(), 1);
    await expect(
      service().owner.query(`update bills set due_date = '2030-01-01' where id = $1`, [billId]),
    ).rejects.toThrow(`bill ${billId} is published`);
  });

  test('a published bill without a stored due date is due 30 days after its publication', async () => {
    const courierId = await newCourier();
    await setTerms(courierId, 5);
    const { id } = await insertBill(service().owner, {
      courierId,
      ...JANUARY,
      publishedAt: '2024-02-01T23:59:59.999Z',
    });
    expect(data(await billing.read(id))).toMatchObject({ due_date: '2024-03-02', is_overdue: true });
  });

  test('a bill is overdue from the day after its due date until it is paid, and the list filters by it', async () => {
    const courierId = await newCourier();
    const [late, today, paid] = [
      await insertDue(courierId, 1),
      await insertDue(courierId, 0),
      await insertDue(courierId, 9),
    ];
    const { id: draft } = await insertBill(service().owner, { courierId, ...JANUARY });
    const payment = data(await billing.pay(paid, 10));
    const list = async (overdue?: boolean) => {
      const query = { courier_id: courierId, ...(overdue === undefined ? {} : { overdue }) };
      const reply = await api.as('manager').listCourierBills(query).ok();
      expect(reply.meta.total_records).toBe(reply.data.length);
      for (const bill of reply.data) if (overdue !== undefined) expect(bill.is_overdue).toBe(overdue);
      return reply.data.map(({ bill_id: id }) => id).sort();
    };
    expect(await list(true)).toEqual([late]);
    expect(await list(false)).toEqual([today, paid, draft].sort());
    expect(await list()).toEqual([late, today, paid, draft].sort());
    await billing.unpay(payment.payment_id);
    expect(await list(true)).toEqual([late, paid].sort());
  });

  test('rejects an overdue that is no boolean with 400', async () => {
    const query = { overdue: 'yes' } as unknown as { overdue: boolean };
    const { errors } = await api.as('admin').listCourierBills(query).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'overdue' }]);
  });
});

test('due_ageing of a statement splits the closing balance by the days since the due dates', async () => {
  const courierId = await newCourier();
  for (const late of [-1, 0, 1, 30, 31, 60, 61, 90, 91]) await insertDue(courierId, late);
  const today = dayAfter(new Date(), 0);
  const { data: statement } = await read('admin', {
    courier_id: courierId,
    from: '2020-01-01',
    to: today,
  }).ok();
  expect(statement.closing_balance).toBe(90);
  expect(statement.due_ageing).toEqual({
    current: 20,
    days_1_30: 20,
    days_31_60: 20,
    days_61_90: 20,
    days_over_90: 10,
    credit: 0,
  });
});
