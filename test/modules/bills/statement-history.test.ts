import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { withService } from '../../support/fixture/with-service.js';
import { ALWAYS, makeStatementCalls, type Movement } from './statement-calls.js';

const DAY_MS = 86_400_000;

const fixture = withService();
const { read, newCourier, insertRows } = makeStatementCalls(fixture);

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
