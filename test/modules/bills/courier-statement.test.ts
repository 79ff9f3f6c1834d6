import { randomInt, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertBill, type InsertedBill } from '../../support/builders/bills.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';
const ALWAYS = { from: '2000-01-01', to: '2100-01-01' };
const DAY_MS = 86_400_000;

const { api, service } = withService();

type Query = Record<string, string | number>;
const read = (as: string, query: Query) => api.as(as).getCourierStatement(unchecked(query));

type Movement = { date: string; kind: string; amount: number; balance: number; payment_id: string | null };

async function newCourier(): Promise<string> {
  const id = randomUUID();
  await service().owner.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $4)', [
    DEMO.tenants.demo,
    id,
    id.slice(0, 8),
    `Courier ${id}`,
  ]);
  return id;
}

const insertRows = (courierId: string, bill: Omit<InsertedBill, 'courierId' | 'start' | 'end'>) =>
  insertBill(service().owner, { courierId, start: '2024-01-01', end: '2024-01-31', ...bill });

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

// Oracle: whole cents, and a separate list of the movements.

type KnownMovement = { bill: number; day: number; cents: bigint };

/** Plants 40 bills with up to four payments each, some before publication and some voided. */
async function insertHistory(courierId: string): Promise<KnownMovement[]> {
  const known: KnownMovement[] = [];
  const dayOf = (n: number) => new Date(Date.UTC(2024, 0, 1 + n)).toISOString().slice(0, 10);
  for (let bill = 0; bill < 40; bill += 1) {
    const published = randomInt(0, 300);
    const total = BigInt(randomInt(1, 10_000_000));
    let left = total;
    known.push({ bill, day: published, cents: total });
    const payments = Array.from({ length: randomInt(0, 5) }, () => {
      const received = Math.max(0, published + randomInt(-20, 60));
      const recorded = Math.max(received, published) + randomInt(0, 3);
      const cents = BigInt(randomInt(1, Number(total) + 1));
      const isVoided = cents > left || randomInt(3) === 0;
      const voided = recorded + randomInt(0, 90);
      known.push({ bill, day: received, cents: -cents });
      if (isVoided) known.push({ bill, day: voided, cents });
      else left -= cents;
      return {
        amount: usd(cents),
        receivedOn: dayOf(received),
        recordedAt: `${dayOf(recorded)}T13:00:00Z`,
        ...(isVoided ? { voidedAt: `${dayOf(voided)}T14:00:00Z` } : {}),
      };
    });
    await insertRows(courierId, {
      amount: usd(total),
      publishedAt: `${dayOf(published)}T12:00:00Z`,
      payments,
    });
  }
  return known;
}

const usd = (cents: bigint) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
const cents = (amount: number) => BigInt(Math.round(amount * 100));
const sumOf = (values: bigint[]) => values.reduce((sum, value) => sum + value, 0n);

describe('statement of a random history', () => {
  let courierId: string;
  let known: KnownMovement[];
  beforeAll(async () => {
    courierId = await newCourier();
    known = await insertHistory(courierId);
  }, 60_000);

  const isoDay = (n: number) => new Date(Date.UTC(2024, 0, 1 + n)).toISOString().slice(0, 10);
  const dayNumber = (date: string) => (Date.parse(date) - Date.UTC(2024, 0, 1)) / DAY_MS;

  function expected(first: number, last: number) {
    const until = known.filter(({ day }) => day <= last);
    const ageing = [0n, 0n, 0n, 0n, 0n];
    for (let bill = 0; bill < 40; bill += 1) {
      const own = until.filter((each) => each.bill === bill);
      const due = sumOf(own.map((each) => each.cents));
      // The first known movement of a bill is its publication.
      const published = known.find((each) => each.bill === bill)?.day ?? 0;
      const age = last - published;
      const bucket = due < 0n ? 4 : age <= 30 ? 0 : age <= 60 ? 1 : age <= 90 ? 2 : 3;
      ageing[bucket] = (ageing[bucket] ?? 0n) + due;
    }
    return {
      opening: sumOf(until.filter(({ day }) => day < first).map((each) => each.cents)),
      closing: sumOf(until.map((each) => each.cents)),
      movements: until.filter(({ day }) => day >= first).length,
      ageing,
    };
  }

  test('is exact to the cent and balances for 30 random periods', async () => {
    for (let round = 0; round < 30; round += 1) {
      const first = randomInt(0, 400);
      const last = first + randomInt(0, 120);
      const query = { courier_id: courierId, from: isoDay(first), to: isoDay(last), limit: 5000 };
      const { data } = await read('admin', query).ok();
      const wanted = expected(first, last);
      const got = {
        opening: cents(data.opening_balance),
        closing: cents(data.closing_balance),
        movements: data.movements.length,
        ageing: Object.values<number>(data.ageing).map(cents),
      };
      expect({ first, last, ...got }).toEqual({ first, last, ...wanted });
      expect(got.opening + cents(data.billed) - cents(data.paid) + cents(data.voided)).toBe(got.closing);
      expect(sumOf(got.ageing)).toBe(got.closing);
      let balance = got.opening;
      for (const movement of data.movements as Movement[]) {
        balance += cents(movement.amount);
        expect(cents(movement.balance)).toBe(balance);
        expect(dayNumber(movement.date)).toBeGreaterThanOrEqual(first);
        expect(dayNumber(movement.date)).toBeLessThanOrEqual(last);
      }
      expect(balance).toBe(got.closing);
    }
  });

  test('is complete across pages, in order and without duplicates', async () => {
    const whole = (await read('admin', { courier_id: courierId, ...ALWAYS, limit: 5000 }).ok()).body;
    const paged: Movement[] = [];
    const pages = Math.ceil(known.length / 7);
    for (let page = 1; page <= pages + 1; page += 1) {
      const { meta, data } = await read('admin', {
        courier_id: courierId,
        ...ALWAYS,
        limit: 7,
        page,
      }).answer();
      expect(meta).toEqual({
        current_page: page,
        per_page: 7,
        total_records: known.length,
        total_pages: pages,
      });
      paged.push(...data.movements);
      // Every page has the totals of the whole statement.
      expect({ ...data, movements: [] }).toEqual({ ...whole['data'], movements: [] });
    }
    expect(paged).toEqual(whole['data'].movements);
    expect(paged.map(({ date }) => date)).toEqual(paged.map(({ date }) => date).sort());
  });
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
