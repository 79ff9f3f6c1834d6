import { randomInt } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeRateCalls, tier, ids, values, fieldsOf, UNKNOWN_ID } from './rate-calls.js';

const fixture = withService();
const { db } = fixture;
const { newCourier, read, save, stored, expectNothingWritten, auditOf } = makeRateCalls(fixture);

const { IEX, HRB, TWO } = DEMO.couriers;
const { two: TENANT_TWO } = DEMO.tenants;
const RANDOM_TABLES = rounds(6, 300);

describe('save_rates', () => {
  test('updates tiers with an id, inserts tiers without one and deletes the others', async () => {
    const courierId = await newCourier([tier(0, 1, 1), tier(1, 2, 2), tier(2, 3, 3)]);
    const [first, second, third] = ids((await read(courierId)).courier.specific_rates);
    const wanted = [tier(3, 4, 4), tier(0, 1, 1.5, first), tier(1, 3, 2, second)];
    const { message, data } = await save(courierId, wanted).ok();
    expect(message).toBe('Rates saved.');
    expect(data).toEqual({
      courier_id: courierId,
      rates: [
        { id: first, startweight: 0, endweight: 1, fee: 1.5 },
        { id: second, startweight: 1, endweight: 3, fee: 2 },
        { id: expect.any(Number), startweight: 3, endweight: 4, fee: 4 },
      ],
      uses_global_rates: false,
      warnings: [],
    });
    expect(ids(data.rates)).not.toContain(third);
    expect((await read(courierId)).courier.specific_rates).toEqual(data.rates);
  });

  describe('of the default table', () => {
    const other = withService();
    const there = makeRateCalls(other);

    test.each([undefined, null])(
      'saves the default table if courier_id is missing or null (%j)',
      async (id) => {
        const { data } = await there.save(id, [tier(0, 7, 9)], 'admin').ok();
        expect(data).toMatchObject({ courier_id: null, rates: [tier(0, 7, 9)] });
        expect(data.uses_global_rates).toBeUndefined();
        expect(await there.stored(null)).toMatchObject([{ start: '0.000', end: '7.000', fee: '9.00' }]);
        expect(values((await there.read(HRB, 'admin')).global_default_rates)).toEqual([[0, 7, 9]]);
        // The other tables are unchanged.
        expect(await there.stored(IEX)).toEqual(await stored(IEX));
        const foreign = { tenant_id: TENANT_TWO };
        expect(await other.db.count('rate_tiers', foreign)).toBe(await db.count('rate_tiers', foreign));
      },
    );
  });

  test('writes nothing if the table is equal, with or without ids and in any order', async () => {
    const courierId = await newCourier([tier(0, 1, 0.1), tier(1, 2, 0.2), tier(2, 3, 0.3)]);
    const { specific_rates: table } = (await read(courierId)).courier;
    const bare = table.map(({ startweight, endweight, fee }) => ({ startweight, endweight, fee }));
    await expectNothingWritten(async () => {
      for (const rates of [table, bare, [...table].reverse(), [table[1], bare[2], table[0]]]) {
        const { message, data } = await save(courierId, rates).ok();
        expect(message).toBe('The rates already have these values. Nothing was changed.');
        expect(data.rates).toEqual(table);
      }
    });
  });

  test('exchanges the bounds of two rows in one request', async () => {
    const courierId = await newCourier([tier(0, 1, 1), tier(1, 2, 2)]);
    const [low, high] = ids((await read(courierId)).courier.specific_rates);
    const { data } = await save(courierId, [tier(1, 2, 1, low), tier(0, 1, 2, high)]).ok();
    expect(data.rates).toEqual([tier(0, 1, 2, high), tier(1, 2, 1, low)]);
  });

  test('applies the default tiers to a courier with an empty list, and says so', async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const { message, data } = await save(courierId, []).ok();
    expect(message).toBe('Rates saved. The courier is billed by the default rates now.');
    expect(data).toMatchObject({ rates: [], uses_global_rates: true });
    expect((await read(courierId)).courier.uses_global_rates).toBe(true);
  });

  test('warns about gaps without rejecting them, and not about weights above the last tier', async () => {
    const courierId = await newCourier();
    const { data } = await save(courierId, [tier(1, 5, 1), tier(5.001, 6, 1), tier(6.5, 7, 1)]).ok();
    expect(data.warnings).toEqual([
      'No tier covers weights below 1 lb.',
      'No tier covers weights between 6 and 6.5 lb.',
    ]);
  });

  test.each([
    ['partial overlap', [tier(0, 10, 1), tier(5, 15, 1)], 'rates[1].startweight'],
    ['one inside another', [tier(3, 4, 1), tier(0, 10, 1)], 'rates[0].startweight'],
    ['a single weight inside another', [tier(0, 10, 1), tier(5, 5, 1)], 'rates[1].startweight'],
    ['equal bounds', [tier(0, 10, 1), tier(0, 10, 2)], 'rates[1].startweight'],
    ['equal single weights', [tier(5, 5, 1), tier(5, 5, 1)], 'rates[1].startweight'],
    ['an overlap of a thousandth', [tier(0, 5.001, 1), tier(5, 10, 1)], 'rates[1].startweight'],
  ])('rejects overlapping tiers (%s) with 400 and names the later one', async (_what, rates, field) => {
    await expectNothingWritten(async () => {
      const { errors } = await save(HRB, rates).refused(400, 'validation_failed');
      expect(errors.map((each) => [each.field, each.code])).toEqual([[field, 'overlap']]);
    });
  });

  test('accepts a shared bound, a tier of a single weight and gaps of any width', async () => {
    const table = [tier(0, 5, 1), tier(5, 5, 2), tier(5, 9, 3), tier(9.001, 10, 4), tier(20, 20, 5)];
    const courierId = await newCourier(table);
    expect(values((await read(courierId)).courier.specific_rates)).toEqual(values(table));
  });

  test('rejects a tier that ends before it begins with 400 and names its endweight', async () => {
    const rates = [tier(0, 1, 1), tier(5, 4.999, 1), tier(9, 8, 1)];
    const refusal = await save(HRB, rates).refused(400, 'validation_failed');
    expect(fieldsOf(refusal)).toEqual(['rates[1].endweight', 'rates[2].endweight']);
  });

  test('rejects a repeated id with 400 and names the second one', async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const [id] = ids((await read(courierId)).courier.specific_rates);
    await expectNothingWritten(async () => {
      const rates = [tier(0, 1, 1, id), tier(1, 2, 1, id)];
      const refusal = await save(courierId, rates).refused(400, 'validation_failed');
      expect(fieldsOf(refusal)).toEqual(['rates[1].id']);
    });
  });

  test('responds 404 to an id of another table like to an unknown one, and changes nothing', async () => {
    const [sibling] = await stored(IEX);
    const [global] = await stored(null);
    const [other] = await db.all('rate_tiers', { tenant_id: TENANT_TWO });
    const courierId = await newCourier([tier(0, 1, 1)]);
    await expectNothingWritten(async () => {
      const replies: string[] = [];
      for (const id of [sibling?.id, global?.id, other?.id, 2_147_483_647]) {
        const rates = [tier(0, 1, 2), tier(1, 2, 2, id)];
        const refusal = await save(courierId, rates).refused(404, 'rate_not_found');
        expect(fieldsOf(refusal)).toEqual(['rates[1].id']);
        const { request_id: _, timestamp: __, ...rest } = refusal.body;
        replies.push(JSON.stringify(rest));
      }
      expect(new Set(replies).size).toBe(1);
      // The default table does not accept a courier's row either.
      expect(fieldsOf(await save(null, [tier(0, 1, 2, sibling?.id)]).refused(404, 'rate_not_found'))).toEqual(
        ['rates[0].id'],
      );
    });
  });

  test('responds 404 to an unknown courier and one of another tenant', async () => {
    await expectNothingWritten(async () => {
      for (const id of [UNKNOWN_ID, TWO]) await save(id, []).refused(404, 'courier_not_found');
    });
  });

  test('audits the complete table before and after with exact decimals', async () => {
    const courierId = await newCourier();
    const first = await save(courierId, [tier(0, 0.001, 0.01)]).ok();
    const id = first.data.rates[0]?.id;
    const second = await save(courierId, [tier(0, 99999.999, 99999999.99, id)]).ok();
    const row = { id, start_weight_lb: '0.000', end_weight_lb: '0.001', fee_usd: '0.01' };
    expect(await auditOf(courierId)).toEqual([
      {
        action: 'rates.saved',
        entity: 'courier',
        actor_id: DEMO.users.manager,
        before: { rates: [] },
        after: { rates: [row] },
        request_id: first.requestId,
      },
      {
        action: 'rates.saved',
        entity: 'courier',
        actor_id: DEMO.users.manager,
        before: { rates: [row] },
        after: { rates: [{ ...row, end_weight_lb: '99999.999', fee_usd: '99999999.99' }] },
        request_id: second.requestId,
      },
    ]);
  });
});

describe('validation of tiers', () => {
  const VALID = { startweight: 1, endweight: 2, fee: 3 };
  const AMOUNTS = [undefined, null, '1', true, [], {}, -0.001, -1, -1e-9, 1e-10, 1e308];

  test('rejects each invalid field with 400, names it and stores nothing', async () => {
    const bad: Record<string, unknown[]> = {
      startweight: [...AMOUNTS, 1.0001, 100000, 99999.9999],
      endweight: [...AMOUNTS, 1.0001, 100000, 99999.9999],
      fee: [...AMOUNTS, 1.001, 0.005, 100000000, 99999999.995],
      id: [null, '1', 0, -1, 1.5, 2_147_483_648, 1e308, true],
    };
    await expectNothingWritten(async () => {
      for (const [field, wrong] of Object.entries(bad)) {
        for (const value of wrong) {
          const rates = [VALID, { startweight: 5, endweight: 6, fee: 1, [field]: value }];
          const reply = await save(HRB, rates).answer();
          const named = fieldsOf(reply);
          expect([field, value, reply.status, reply.code]).toEqual([field, value, 400, 'validation_failed']);
          expect([field, value, named]).toEqual([
            field,
            value,
            expect.arrayContaining([`rates[1].${field}`]),
          ]);
        }
      }
    });
  });

  test.each([[null], ['x'], [{}], [[null]], [['x']], [[[]]]])('rejects rates %j with 400', async (rates) => {
    await save(HRB, rates).refused(400, 'validation_failed');
  });

  test('accepts 500 tiers and rejects 501 with 400 naming rates', async () => {
    const table = Array.from({ length: 501 }, (_, n) => tier(n / 8, (n + 1) / 8, n / 100));
    const courierId = await newCourier();
    expect(fieldsOf(await save(courierId, table).refused(400, 'validation_failed'))).toEqual(['rates']);
    expect((await save(courierId, table.slice(0, 500)).ok()).data.rates).toHaveLength(500);
    expect(await stored(courierId)).toHaveLength(500);
  });

  test('ignores unknown keys of a tier', async () => {
    const courierId = await newCourier();
    const extra = { tenant_id: TENANT_TWO, courier_id: HRB, start_weight_lb: 9, fee_usd: 9 };
    await save(courierId, [{ ...tier(0, 1, 2), ...extra }]).ok();
    expect(await stored(courierId)).toMatchObject([{ start: '0.000', end: '1.000', fee: '2.00' }]);
  });

  test.each([
    [0.1 + 0.2, '0.30'],
    [1.1 * 3, '3.30'],
    [1.005 * 1000, '1005.00'],
    [4.35 * 100, '435.00'],
    [0.07 * 100, '7.00'],
  ])('tolerates floating-point noise: %d is stored as %s', async (fee, text) => {
    const courierId = await newCourier();
    const { data } = await save(courierId, [tier(0, 1, fee)]).ok();
    expect(data.rates[0]?.fee).toBe(Number(text));
    expect(await stored(courierId)).toMatchObject([{ fee: text }]);
  });

  test(`${RANDOM_TABLES} random tables are stored and returned exact to the cent and the thousandth`, async () => {
    const courierId = await newCourier();
    for (let round = 0; round < RANDOM_TABLES; round += 1) {
      const thousandths = Array.from({ length: 8 }, () => randomInt(100_000_000)).sort((a, b) => a - b);
      const cents = Array.from({ length: 4 }, () => randomInt(10_000_000_000));
      const table = cents.map((fee, n) => ({
        startweight: (thousandths[2 * n] ?? 0) / 1000,
        endweight: (thousandths[2 * n + 1] ?? 0) / 1000,
        fee: fee / 100,
      }));
      const { data } = await save(courierId, table).ok();
      expect(values(data.rates)).toEqual(values(table));
      expect(await stored(courierId)).toMatchObject(
        cents.map((fee, n) => ({
          start: decimal(thousandths[2 * n] ?? 0, 3),
          end: decimal(thousandths[2 * n + 1] ?? 0, 3),
          fee: decimal(fee, 2),
        })),
      );
    }
  }, 120_000);

  const decimal = (whole: number, decimals: number) => {
    const digits = String(whole).padStart(decimals + 1, '0');
    return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  };
});
