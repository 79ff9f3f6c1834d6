import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { ALWAYS, makeStatementCalls, type Movement } from './statement-calls.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

const fixture = withService();
const { api, service } = fixture;
const { read, newCourier, insertRows } = makeStatementCalls(fixture);

describe('courier statement', () => {
  let courierId: string;
  beforeAll(async () => {
    courierId = await newCourier();
    await insertRows(courierId, {
      amount: '100.00',
      taxRate: '7.5',
      publishedAt: '2024-02-01T09:00:00Z',
      payments: [
        { amount: '50.00', receivedOn: '2024-02-10', reference: 'TRF-1' },
        { amount: '7.50', receivedOn: '2024-02-11', voidedAt: '2024-03-05T10:00:00Z' },
      ],
    });
    await insertRows(courierId, { amount: '20.10', publishedAt: '2024-03-02T09:00:00Z' });
    await insertRows(courierId, { amount: '999.99' });
  });

  const statementOf = async (from: string, to: string) =>
    (await read('admin', { courier_id: courierId, from, to }).ok()).data;

  test('lists bills, payments and voids by day with the running balance, and no drafts', async () => {
    const data = await statementOf('2024-02-01', '2024-03-31');
    expect(data.movements.map((each: Movement) => [each.date, each.kind, each.amount, each.balance])).toEqual(
      [
        ['2024-02-01', 'bill', 107.5, 107.5],
        ['2024-02-10', 'payment', -50, 57.5],
        ['2024-02-11', 'payment', -7.5, 50],
        ['2024-03-02', 'bill', 20.1, 70.1],
        ['2024-03-05', 'payment_voided', 7.5, 77.6],
      ],
    );
    expect(data).toMatchObject({
      courier_id: courierId,
      opening_balance: 0,
      billed: 127.6,
      paid: 57.5,
      voided: 7.5,
      closing_balance: 77.6,
    });
    expect(data.movements[1]).toMatchObject({ method: 'bank_transfer', reference: 'TRF-1' });
    expect(data.movements[1]?.invoice_number).toBe(data.movements[0]?.invoice_number);
    expect(data.movements[4]?.payment_id).toBe(data.movements[2]?.payment_id);
  });

  test("opens with the previous period's closing balance", async () => {
    expect(await statementOf('2024-02-01', '2024-02-29')).toMatchObject({ closing_balance: 50 });
    expect(await statementOf('2024-03-01', '2024-03-31')).toMatchObject({
      opening_balance: 50,
      closing_balance: 77.6,
    });
  });

  test('of an earlier period does not change when a payment is voided later', async () => {
    const february = await statementOf('2024-02-01', '2024-02-29');
    expect(february).toMatchObject({ paid: 57.5, voided: 0, closing_balance: 50 });
  });

  test.each([
    ['2024-01-31', [0, 0, 0, 0]],
    ['2024-03-02', [70.1, 0, 0, 0]],
    ['2024-03-03', [20.1, 50, 0, 0]],
    ['2024-04-01', [20.1, 57.5, 0, 0]],
    ['2024-04-02', [0, 20.1, 57.5, 0]],
    ['2024-05-01', [0, 20.1, 57.5, 0]],
    ['2024-05-02', [0, 0, 20.1, 57.5]],
    ['2024-05-31', [0, 0, 20.1, 57.5]],
    ['2024-06-01', [0, 0, 0, 77.6]],
  ])('ages bills by days since publication: on %s the buckets are %j', async (to, buckets) => {
    const { ageing } = await statementOf('2024-01-01', to);
    expect(Object.values(ageing)).toEqual([...buckets, 0]);
  });

  test('of a period without movements has the opening balance as its closing balance', async () => {
    const { message, data, meta } = await read('admin', {
      courier_id: courierId,
      from: '2024-07-01',
      to: '2024-07-31',
    }).answer();
    expect(message).toBe('0 movements from 2024-07-01 to 2024-07-31.');
    expect(data).toMatchObject({ opening_balance: 77.6, movements: [], closing_balance: 77.6 });
    expect(meta).toMatchObject({ total_records: 0, total_pages: 0 });
  });
});

test("payments received before their bill's publication count as credit until then", async () => {
  const courierId = await newCourier();
  const payments = [{ amount: '40.00', receivedOn: '2024-02-20', recordedAt: '2024-03-02T00:00:00Z' }];
  await insertRows(courierId, { amount: '100.00', publishedAt: '2024-03-01T00:00:00Z', payments });
  await insertRows(courierId, { amount: '30.00', publishedAt: '2024-02-01T00:00:00Z' });
  const on = async (to: string) =>
    (await read('admin', { courier_id: courierId, from: '2024-02-01', to }).ok()).data;
  const before = await on('2024-02-29');
  expect([before.closing_balance, before.ageing.days_0_30, before.ageing.credit]).toEqual([-10, 30, -40]);
  const after = await on('2024-03-01');
  expect([after.closing_balance, after.ageing.days_0_30, after.ageing.credit]).toEqual([90, 90, 0]);
});

test('statement days are whole UTC days, both ends inclusive', async () => {
  const courierId = await newCourier();
  const moments = [
    '2024-02-28T23:59:59.999Z',
    '2024-02-29T00:00:00Z',
    '2024-02-29T23:59:59.999Z',
    '2024-03-01T00:00:00Z',
  ];
  for (const [index, publishedAt] of moments.entries())
    await insertRows(courierId, { amount: `${10 ** index}.00`, publishedAt });
  const day = '2024-02-29';
  const { data } = await read('admin', { courier_id: courierId, from: day, to: day }).ok();
  expect([data.opening_balance, data.billed, data.closing_balance]).toEqual([1, 110, 111]);
  expect(data.movements.map(({ date }: Movement) => date)).toEqual([day, day]);
});

test('bills without a recorded publication time count from their creation', async () => {
  const courierId = await newCourier();
  const { id } = await insertRows(courierId, { amount: '5.00' });
  const update = `update bills set status = 'published', created_at = '2024-04-04T10:00:00Z' where id = $1`;
  await service().owner.query(update, [id]);
  const { data } = await read('admin', { courier_id: courierId, ...ALWAYS }).ok();
  expect(data.movements).toMatchObject([{ date: '2024-04-04', amount: 5 }]);
});

describe('statement access', () => {
  test("the demo courier's balance equals the outstanding amount of its bills", async () => {
    const { data } = await read('manager', { courier_id: IEX, ...ALWAYS }).answer();
    const { rows } = await service().owner.query<{ due: string }>(
      "select sum(total_amount - paid_amount) as due from bills where courier_id = $1 and status <> 'draft'",
      [IEX],
    );
    expect(data.closing_balance).toBe(Number(rows[0]?.due));
    expect(data.movements.map(({ kind }: Movement) => kind).sort()).toEqual([
      'bill',
      'bill',
      'payment',
      'payment',
    ]);
  });

  test('a courier gets its own statement, whatever courier_id it sends', async () => {
    const own = (await read('admin', { courier_id: IEX, ...ALWAYS }).ok()).data;
    for (const courier_id of [IEX, HRB, TWO, UNKNOWN_ID])
      expect((await read('iex', { courier_id, ...ALWAYS }).ok()).data).toEqual(own);
    expect((await read('iex', ALWAYS).ok()).data).toEqual(own);
    expect((await read('hrb', ALWAYS).ok()).data).toMatchObject({ courier_id: HRB, closing_balance: 0 });
  });

  test("requires a courier_id from staff and responds to another tenant's courier as to an unknown one", async () => {
    await read('admin', ALWAYS).refused(400, 'validation_failed', 'courier_id');
    await read('admin', { courier_id: TWO, ...ALWAYS }).refused(404, 'courier_not_found');
    await read('admin', { courier_id: UNKNOWN_ID, ...ALWAYS }).refused(404, 'courier_not_found');
  });

  test('is denied to the warehouse role, anonymous callers and disabled accounts', async () => {
    await read('warehouse', { courier_id: IEX, ...ALWAYS }).refused(403, 'permission_denied');
    await api.anonymous.getCourierStatement(ALWAYS).refused(401, 'token_missing');
    await read('disabled', { courier_id: IEX, ...ALWAYS }).refused(403, 'account_disabled');
  });
});

test.each([
  [{ from: '2024-02-02', to: '2024-02-01' }, 'to'],
  [{ to: '2024-02-01' }, 'from'],
  [{ from: '2024-02-01' }, 'to'],
  [{ from: '2023-02-29', to: '2024-02-01' }, 'from'],
  [{ from: '2024-02-01', to: '31.12.2024' }, 'to'],
])('rejects the period %j with 400 and names %s', async (query, field) => {
  await read('admin', { courier_id: IEX, ...query }).refused(400, 'validation_failed', field);
});
