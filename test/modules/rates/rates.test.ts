import { randomInt, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const { demo: DEMO_TENANT, two: TENANT_TWO } = DEMO.tenants;
const RANDOM_TABLES = rounds(6, 300);
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

type Tier = { id?: number; startweight: number; endweight: number; fee: number };

const { api, service } = withService();

const manage = (as: string, body: unknown, target: Service = service()) =>
  target.call('manageCourierRates', { as, body });
const save = (
  courier_id: string | null | undefined,
  rates: unknown,
  as = 'manager',
  target: Service = service(),
) => manage(as, { action: 'save_rates', courier_id, rates }, target);
const read = (courier_id?: string, as = 'manager', target: Service = service()) =>
  target.call('getCourierRates', { as, ...(courier_id ? { query: { courier_id } } : {}) });

const tier = (startweight: number, endweight: number, fee: number, id?: number): Tier =>
  id === undefined ? { startweight, endweight, fee } : { id, startweight, endweight, fee };
const values = (rates: Tier[]) =>
  rates.map(({ startweight, endweight, fee }) => [startweight, endweight, fee]);
const ids = (rates: Tier[]) => rates.map(({ id }) => id);

const rows = async (statement: string, args: unknown[] = [], target: Service = service()) =>
  (await target.owner.query(statement, args)).rows;

/** Returns the stored rows with decimals as text. */
const stored = (courierId: string | null, target: Service = service()) =>
  rows(
    `select id, start_weight_lb::text as start, end_weight_lb::text as end, fee_usd::text as fee from rate_tiers
     where tenant_id = $1 and courier_id is not distinct from $2 order by start_weight_lb, end_weight_lb`,
    [DEMO_TENANT, courierId],
    target,
  );

const auditOf = (entityId: string) =>
  rows(
    `select action, entity, actor_id, before, after, request_id from audit_entries where entity_id = $1 order by id`,
    [entityId],
  );

let couriers = 0;
async function newCourier(rates: Tier[] = [], airFreightRate = '0'): Promise<string> {
  const id = randomUUID();
  await service().owner.query(
    'insert into couriers (tenant_id, id, code, name, air_freight_rate) values ($1, $2, $3, $4, $5)',
    [DEMO_TENANT, id, `R${(couriers += 1)}`, `Courier ${couriers}`, airFreightRate],
  );
  if (rates.length > 0) expect((await save(id, rates)).status).toBe(200);
  return id;
}

function expectError(reply: Reply, status: number, code: string, fields?: string[]) {
  expect([reply.status, reply.body.code, reply.body.message]).toEqual([status, code, expect.any(String)]);
  if (fields) expect(reply.body.errors.map(({ field }: { field: string }) => field)).toEqual(fields);
}

/** Asserts that `work` writes nothing. */
async function expectNothingWritten(work: () => Promise<void>, target: Service = service()) {
  const before = await fingerprint(target.owner);
  await work();
  expect(await fingerprint(target.owner)).toEqual(before);
}

const GLOBAL = [
  [0, 5, 8],
  [5, 15, 15],
  [15, 50, 40],
];

describe('reading rates', () => {
  test("returns a courier's tiers and the default tiers ordered by weight", async () => {
    const { status, body } = await read(IEX.toUpperCase());
    expect([status, body.message]).toEqual([200, 'Rates of Island Express.']);
    expect(Object.keys(body.data).sort()).toEqual(['courier', 'global_default_rates']);
    expect(values(body.data.global_default_rates)).toEqual(GLOBAL);
    expect(body.data.courier).toEqual({
      courier_id: IEX,
      courier_name: 'Island Express',
      courier_code: 'IEX',
      air_freight_rate: 1.75,
      specific_rates: (await stored(IEX)).map(({ id, start, end, fee }) => ({
        id,
        startweight: Number(start),
        endweight: Number(end),
        fee: Number(fee),
      })),
      uses_global_rates: false,
    });
  });

  test('reports that the default tiers apply to a courier without tiers', async () => {
    const { courier } = (await read(HRB)).body.data;
    expect(courier).toMatchObject({ courier_code: 'HRB', specific_rates: [], uses_global_rates: true });
  });

  test('returns every courier of the tenant ordered by code if no courier is given', async () => {
    const { body } = await read(undefined, 'admin');
    expect(Object.keys(body.data).sort()).toEqual(['couriers', 'global_default_rates']);
    const wanted = await rows('select id from couriers where tenant_id = $1 order by code', [DEMO_TENANT]);
    expect(body.data.couriers.map(({ courier_id }: { courier_id: string }) => courier_id)).toEqual(
      wanted.map(({ id }) => id),
    );
    const [iex] = body.data.couriers.filter(({ courier_id }: { courier_id: string }) => courier_id === IEX);
    expect(iex).toEqual((await read(IEX)).body.data.courier);
    expect(body.message).toBe(`Rates of ${wanted.length} couriers.`);
  });

  test('responds 404 identically to an unknown courier and one of another tenant', async () => {
    const replies = [await read(UNKNOWN_ID), await read(TWO)];
    for (const reply of replies) expectError(reply, 404, 'courier_not_found');
    expect(replies[0]?.body.message).toBe(replies[1]?.body.message);
  });

  test('shows another tenant only its own rates', async () => {
    const { data } = (await read(undefined, 'two/admin')).body;
    expect(data.couriers.map(({ courier_code }: { courier_code: string }) => courier_code)).toEqual(['TWO']);
    const own = await rows('select id from rate_tiers where tenant_id = $1', [TENANT_TWO]);
    expect(ids(data.global_default_rates).sort()).toEqual(own.map(({ id }) => id).sort());
  });
});

describe('access to rates', () => {
  test.each([
    ['warehouse', 403, 'permission_denied'],
    ['iex', 403, 'permission_denied'],
    ['disabled', 403, 'account_disabled'],
    ['', 401, 'token_missing'],
  ])('denies the caller %j with %d', async (as, status, code) => {
    const bodies = [
      { action: 'save_rates', courier_id: IEX, rates: [] },
      { action: 'save_rates', rates: [] },
      { action: 'copy_default', courier_id: IEX },
      { action: 'delete_rate', rate_id: 4 },
      { action: 'update_air_freight', courier_id: IEX, air_freight_rate: 0.01 },
    ];
    await expectNothingWritten(async () => {
      const who = as ? { as } : {};
      await api.with(who).getCourierRates().refused(status, code);
      for (const body of bodies) {
        await api
          .with({ ...who })
          .manageCourierRates(unchecked(body))
          .refused(status, code);
      }
    });
  });

  test.each(['admin', 'manager'])('%s may read and manage rates', async (as) => {
    const courierId = await newCourier();
    expect((await read(courierId, as)).status).toBe(200);
    const saved = await save(courierId, [tier(0, 1, 1)], as);
    expect(saved.status).toBe(200);
    expect((await manage(as, { action: 'copy_default', courier_id: courierId })).status).toBe(200);
    const [{ id }] = await stored(courierId);
    expect((await manage(as, { action: 'delete_rate', rate_id: id })).status).toBe(200);
    const air = { action: 'update_air_freight', courier_id: courierId, air_freight_rate: 2 };
    expect((await manage(as, air)).status).toBe(200);
  });
});

describe('save_rates', () => {
  test('updates tiers with an id, inserts tiers without one and deletes the others', async () => {
    const courierId = await newCourier([tier(0, 1, 1), tier(1, 2, 2), tier(2, 3, 3)]);
    const [first, second, third] = ids((await read(courierId)).body.data.courier.specific_rates);
    const wanted = [tier(3, 4, 4), tier(0, 1, 1.5, first), tier(1, 3, 2, second)];
    const { status, body } = await save(courierId, wanted);
    expect([status, body.message]).toEqual([200, 'Rates saved.']);
    expect(body.data).toEqual({
      courier_id: courierId,
      rates: [
        { id: first, startweight: 0, endweight: 1, fee: 1.5 },
        { id: second, startweight: 1, endweight: 3, fee: 2 },
        { id: expect.any(Number), startweight: 3, endweight: 4, fee: 4 },
      ],
      uses_global_rates: false,
      warnings: [],
    });
    expect(ids(body.data.rates)).not.toContain(third);
    expect((await read(courierId)).body.data.courier.specific_rates).toEqual(body.data.rates);
  });

  test('saves the default table if courier_id is missing or null', async () => {
    const target = await startService();
    try {
      for (const courier_id of [undefined, null]) {
        const { body } = await save(courier_id, [tier(0, 7, 9)], 'admin', target);
        expect(body.data).toMatchObject({ courier_id: null, rates: [tier(0, 7, 9)] });
        expect(body.data.uses_global_rates).toBeUndefined();
      }
      expect(await stored(null, target)).toMatchObject([{ start: '0.000', end: '7.000', fee: '9.00' }]);
      const { data } = (await read(HRB, 'admin', target)).body;
      expect(values(data.global_default_rates)).toEqual([[0, 7, 9]]);
      // The other tables are unchanged.
      expect(await stored(IEX, target)).toEqual(await stored(IEX));
      expect(
        await rows('select count(*)::int as n from rate_tiers where tenant_id = $1', [TENANT_TWO], target),
      ).toEqual(await rows('select count(*)::int as n from rate_tiers where tenant_id = $1', [TENANT_TWO]));
    } finally {
      await target.stop();
    }
  }, 60_000);

  test('writes nothing if the table is equal, with or without ids and in any order', async () => {
    const courierId = await newCourier([tier(0, 1, 0.1), tier(1, 2, 0.2), tier(2, 3, 0.3)]);
    const { specific_rates: table } = (await read(courierId)).body.data.courier;
    const bare = table.map(({ startweight, endweight, fee }: Tier) => ({ startweight, endweight, fee }));
    await expectNothingWritten(async () => {
      for (const rates of [table, bare, [...table].reverse(), [table[1], bare[2], table[0]]]) {
        const { body } = await save(courierId, rates);
        expect(body.message).toBe('The rates already have these values. Nothing was changed.');
        expect(body.data.rates).toEqual(table);
      }
    });
  });

  test('exchanges the bounds of two rows in one request', async () => {
    const courierId = await newCourier([tier(0, 1, 1), tier(1, 2, 2)]);
    const [low, high] = ids((await read(courierId)).body.data.courier.specific_rates);
    const { body } = await save(courierId, [tier(1, 2, 1, low), tier(0, 1, 2, high)]);
    expect(body.data.rates).toEqual([tier(0, 1, 2, high), tier(1, 2, 1, low)]);
  });

  test('applies the default tiers to a courier with an empty list, and says so', async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const { body } = await save(courierId, []);
    expect(body.message).toBe('Rates saved. The courier is billed by the default rates now.');
    expect(body.data).toMatchObject({ rates: [], uses_global_rates: true });
    expect((await read(courierId)).body.data.courier.uses_global_rates).toBe(true);
  });

  test('warns about gaps without rejecting them, and not about weights above the last tier', async () => {
    const courierId = await newCourier();
    const { body } = await save(courierId, [tier(1, 5, 1), tier(5.001, 6, 1), tier(6.5, 7, 1)]);
    expect(body.data.warnings).toEqual([
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
      const reply = await save(HRB, rates);
      expectError(reply, 400, 'validation_failed', [field]);
      expect(reply.body.errors[0].code).toBe('overlap');
    });
  });

  test('accepts a shared bound, a tier of a single weight and gaps of any width', async () => {
    const table = [tier(0, 5, 1), tier(5, 5, 2), tier(5, 9, 3), tier(9.001, 10, 4), tier(20, 20, 5)];
    const courierId = await newCourier(table);
    expect(values((await read(courierId)).body.data.courier.specific_rates)).toEqual(values(table));
  });

  test('rejects a tier that ends before it begins with 400 and names its endweight', async () => {
    const reply = await save(HRB, [tier(0, 1, 1), tier(5, 4.999, 1), tier(9, 8, 1)]);
    expectError(reply, 400, 'validation_failed', ['rates[1].endweight', 'rates[2].endweight']);
  });

  test('rejects a repeated id with 400 and names the second one', async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const [id] = ids((await read(courierId)).body.data.courier.specific_rates);
    await expectNothingWritten(async () => {
      const reply = await save(courierId, [tier(0, 1, 1, id), tier(1, 2, 1, id)]);
      expectError(reply, 400, 'validation_failed', ['rates[1].id']);
    });
  });

  test('responds 404 to an id of another table like to an unknown one, and changes nothing', async () => {
    const [sibling] = await stored(IEX);
    const [global] = await stored(null);
    const [other] = await rows('select id from rate_tiers where tenant_id = $1', [TENANT_TWO]);
    const courierId = await newCourier([tier(0, 1, 1)]);
    await expectNothingWritten(async () => {
      const replies: string[] = [];
      for (const id of [sibling.id, global.id, other.id, 2_147_483_647]) {
        const reply = await save(courierId, [tier(0, 1, 2), tier(1, 2, 2, id)]);
        expectError(reply, 404, 'rate_not_found', ['rates[1].id']);
        const { request_id: _, timestamp: __, ...rest } = reply.body;
        replies.push(JSON.stringify(rest));
      }
      expect(new Set(replies).size).toBe(1);
      // The default table does not accept a courier's row either.
      expectError(await save(null, [tier(0, 1, 2, sibling.id)]), 404, 'rate_not_found', ['rates[0].id']);
    });
  });

  test('responds 404 to an unknown courier and one of another tenant', async () => {
    await expectNothingWritten(async () => {
      for (const id of [UNKNOWN_ID, TWO]) expectError(await save(id, []), 404, 'courier_not_found');
    });
  });

  test('audits the complete table before and after with exact decimals', async () => {
    const courierId = await newCourier();
    const first = await save(courierId, [tier(0, 0.001, 0.01)]);
    const [{ id }] = first.body.data.rates;
    const second = await save(courierId, [tier(0, 99999.999, 99999999.99, id)]);
    const row = { id, start_weight_lb: '0.000', end_weight_lb: '0.001', fee_usd: '0.01' };
    expect(await auditOf(courierId)).toEqual([
      {
        action: 'rates.saved',
        entity: 'courier',
        actor_id: DEMO.users.manager,
        before: { rates: [] },
        after: { rates: [row] },
        request_id: first.headers.get('x-request-id'),
      },
      {
        action: 'rates.saved',
        entity: 'courier',
        actor_id: DEMO.users.manager,
        before: { rates: [row] },
        after: { rates: [{ ...row, end_weight_lb: '99999.999', fee_usd: '99999999.99' }] },
        request_id: second.headers.get('x-request-id'),
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
          const reply = await save(HRB, [VALID, { startweight: 5, endweight: 6, fee: 1, [field]: value }]);
          const named = (reply.body.errors ?? []).map(({ field: each }: { field: string }) => each);
          expect([field, value, reply.status, reply.body.code]).toEqual([
            field,
            value,
            400,
            'validation_failed',
          ]);
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
    expectError(await save(HRB, rates), 400, 'validation_failed');
  });

  test('accepts 500 tiers and rejects 501 with 400 naming rates', async () => {
    const table = Array.from({ length: 501 }, (_, n) => tier(n / 8, (n + 1) / 8, n / 100));
    const courierId = await newCourier();
    expectError(await save(courierId, table), 400, 'validation_failed', ['rates']);
    expect((await save(courierId, table.slice(0, 500))).body.data.rates).toHaveLength(500);
    expect(await stored(courierId)).toHaveLength(500);
  });

  test('ignores unknown keys of a tier', async () => {
    const courierId = await newCourier();
    const extra = { tenant_id: TENANT_TWO, courier_id: HRB, start_weight_lb: 9, fee_usd: 9 };
    expect((await save(courierId, [{ ...tier(0, 1, 2), ...extra }])).status).toBe(200);
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
    const { body } = await save(courierId, [tier(0, 1, fee)]);
    expect(body.data.rates[0].fee).toBe(Number(text));
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
      const { status, body } = await save(courierId, table);
      expect([table, status]).toEqual([table, 200]);
      expect(values(body.data.rates)).toEqual(values(table));
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

describe('copy_default', () => {
  test("replaces the courier's tiers with copies of the default tiers", async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const globals = await stored(null);
    const { status, body } = await manage('manager', { action: 'copy_default', courier_id: courierId });
    expect([status, body.message]).toEqual([200, 'Default rates copied.']);
    expect(body.data).toMatchObject({ courier_id: courierId, uses_global_rates: false, warnings: [] });
    expect(values(body.data.rates)).toEqual(GLOBAL);
    const { data } = (await read(courierId)).body;
    expect(data.courier).toMatchObject({ uses_global_rates: false, specific_rates: body.data.rates });
    for (const { id } of globals) expect(ids(body.data.rates)).not.toContain(id);
    expect(await stored(null)).toEqual(globals);
    const [, entry] = await auditOf(courierId);
    expect(entry).toMatchObject({
      action: 'rates.copied',
      before: { rates: [{ start_weight_lb: '0.000', end_weight_lb: '1.000', fee_usd: '1.00' }] },
    });
    expect(entry?.after.rates).toHaveLength(3);
  });

  test('writes nothing if the tiers are already equal', async () => {
    const courierId = await newCourier();
    const first = await manage('manager', { action: 'copy_default', courier_id: courierId });
    await expectNothingWritten(async () => {
      const again = await manage('manager', { action: 'copy_default', courier_id: courierId });
      expect(again.body.data).toEqual(first.body.data);
      expect(again.body.message).toContain('Nothing was changed');
    });
  });

  test('rejects copying an empty default table, which is saved with a warning and leaves couriers without fees', async () => {
    const target = await startService();
    try {
      const emptied = await save(null, [], 'manager', target);
      expect(emptied.body.data).toEqual({
        courier_id: null,
        rates: [],
        warnings: ['There is no rate table.'],
      });
      await expectNothingWritten(async () => {
        const reply = await manage('manager', { action: 'copy_default', courier_id: IEX }, target);
        expectError(reply, 400, 'default_rates_missing');
      }, target);
      const period = { courier_id: HRB, start_date: '2020-01-01', end_date: '2099-12-31' };
      const bill = await target.call('previewCourierInvoice', { as: 'manager', body: period });
      expect(bill.body.data.summary.total_fees).toBe(0);
      expect(bill.body.data.summary.total_packages).toBeGreaterThan(0);
    } finally {
      await target.stop();
    }
  }, 60_000);

  test('responds 404 to an unknown courier and one of another tenant', async () => {
    for (const courier_id of [UNKNOWN_ID, TWO]) {
      expectError(await manage('admin', { action: 'copy_default', courier_id }), 404, 'courier_not_found');
    }
  });
});

describe('delete_rate', () => {
  test('deletes one tier, warns about the resulting gap and is audited', async () => {
    const courierId = await newCourier([tier(0, 1, 1), tier(1, 2, 2), tier(2, 3, 3)]);
    const [first, second, third] = ids((await read(courierId)).body.data.courier.specific_rates);
    const { status, body } = await manage('manager', { action: 'delete_rate', rate_id: second });
    expect([status, body.message]).toEqual([200, 'Rate deleted.']);
    expect(body.data).toEqual({
      courier_id: courierId,
      rates: [tier(0, 1, 1, first), tier(2, 3, 3, third)],
      uses_global_rates: false,
      warnings: ['No tier covers weights between 1 and 2 lb.'],
    });
    const [, entry] = await auditOf(courierId);
    expect(entry).toMatchObject({ action: 'rate.deleted', entity: 'courier' });
    expect(entry?.before.rates.map(({ id }: { id: number }) => id)).toEqual([first, second, third]);
    expect(entry?.after.rates.map(({ id }: { id: number }) => id)).toEqual([first, third]);
  });

  test('applies the default tiers after the last tier is deleted', async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const [id] = ids((await read(courierId)).body.data.courier.specific_rates);
    const { body } = await manage('manager', { action: 'delete_rate', rate_id: id });
    expect(body.message).toBe('Rate deleted. The courier is billed by the default rates now.');
    expect(body.data).toMatchObject({ rates: [], uses_global_rates: true });
  });

  test('audits the deletion of a default tier under the tenant', async () => {
    const target = await startService();
    try {
      const [, middle] = await stored(null, target);
      const { body } = await manage('admin', { action: 'delete_rate', rate_id: middle.id }, target);
      expect(body.data).toMatchObject({
        courier_id: null,
        warnings: ['No tier covers weights between 5 and 15 lb.'],
      });
      const entries = await rows(
        "select entity, entity_id from audit_entries where action = 'rate.deleted'",
        [],
        target,
      );
      expect(entries).toEqual([{ entity: 'tenant', entity_id: DEMO_TENANT }]);
    } finally {
      await target.stop();
    }
  }, 60_000);

  test('responds 404 identically to deleted, unknown and foreign tiers', async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const [gone] = ids((await read(courierId)).body.data.courier.specific_rates);
    await manage('manager', { action: 'delete_rate', rate_id: gone });
    const [other] = await rows('select id from rate_tiers where tenant_id = $1', [TENANT_TWO]);
    await expectNothingWritten(async () => {
      const messages = [];
      for (const rate_id of [gone, 2_147_483_647, other.id]) {
        const reply = await manage('manager', { action: 'delete_rate', rate_id });
        expectError(reply, 404, 'rate_not_found');
        expect(reply.body.errors).toBeUndefined();
        messages.push(reply.body.message);
      }
      expect(new Set(messages).size).toBe(1);
    });
  });
});

describe('update_air_freight', () => {
  const update = (courier_id: string, air_freight_rate: unknown, as = 'manager') =>
    manage(as, { action: 'update_air_freight', courier_id, air_freight_rate });

  test.each([0, 0.01, 0.29, 1005, 4.35, 87654321.37, 99999999.99])(
    'stores and returns %d exactly',
    async (rate) => {
      const courierId = await newCourier([], '3.33');
      const { status, body } = await update(courierId, rate);
      expect([status, body.message]).toEqual([200, 'Air freight rate updated.']);
      expect(body.data).toEqual({ courier_id: courierId, air_freight_rate: rate });
      expect((await read(courierId)).body.data.courier.air_freight_rate).toBe(rate);
      expect(
        await rows('select air_freight_rate::text as rate from couriers where id = $1', [courierId]),
      ).toEqual([{ rate: rate.toFixed(2) }]);
      expect(await auditOf(courierId)).toMatchObject([
        {
          action: 'courier.air_freight_updated',
          actor_id: DEMO.users.manager,
          before: { air_freight_rate: '3.33' },
          after: { air_freight_rate: rate.toFixed(2) },
        },
      ]);
    },
  );

  test('writes nothing if the rate is equal', async () => {
    const courierId = await newCourier([], '1.10');
    await expectNothingWritten(async () => {
      const { status, body } = await update(courierId, 1.1);
      expect([status, body.data.air_freight_rate]).toEqual([200, 1.1]);
      expect(body.message).toBe('The rates already have these values. Nothing was changed.');
    });
  });

  test('applies to the next preview', async () => {
    const target = service();
    await update(IEX, 2.25);
    const period = { courier_id: IEX, start_date: '2020-01-01', end_date: '2099-12-31' };
    const { summary } = (await target.call('previewCourierInvoice', { as: 'iex', body: period })).body.data;
    expect(summary.air_freight_rate).toBe(2.25);
    await update(IEX, 1.75);
  });

  test('responds 404 to an unknown courier and one of another tenant', async () => {
    await expectNothingWritten(async () => {
      for (const id of [UNKNOWN_ID, TWO]) expectError(await update(id, 1), 404, 'courier_not_found');
    });
  });

  test.each([undefined, null, '1', -0.01, 0.001, 0.005, 1e-10, 100000000])(
    'rejects %j with 400 naming air_freight_rate',
    async (rate) => {
      expectError(await update(HRB, rate), 400, 'validation_failed', ['air_freight_rate']);
    },
  );
});

describe('action', () => {
  test.each([{}, { action: 'drop_rates' }, { action: 'SAVE_RATES', rates: [] }, { action: null }])(
    'rejects %j with 400 naming action',
    async (body) => {
      expectError(await manage('admin', body), 400, 'validation_failed', ['action']);
    },
  );
});

describe.each([
  ["the application's filters alone", { rowSecurity: false }],
  ['row-level security alone', { applicationFilters: false }],
])('with %s', (_name, options) => {
  test("save, copy and delete affect only the tenant's own tables", async () => {
    const target = await startService(options);
    try {
      const foreign = () =>
        rows('select * from rate_tiers where tenant_id = $1 order by id', [TENANT_TWO], target);
      const before = await foreign();
      await save(null, [tier(0, 1, 1), tier(1, 2, 2)], 'admin', target);
      expect(values((await read(IEX, 'admin', target)).body.data.global_default_rates)).toEqual([
        [0, 1, 1],
        [1, 2, 2],
      ]);
      const copied = await manage('admin', { action: 'copy_default', courier_id: HRB }, target);
      expect(values(copied.body.data.rates)).toEqual([
        [0, 1, 1],
        [1, 2, 2],
      ]);
      const { data } = (await read(undefined, 'admin', target)).body;
      expect(data.couriers.map(({ courier_code }: { courier_code: string }) => courier_code)).toEqual([
        'HRB',
        'IEX',
      ]);
      expectError(
        await manage('admin', { action: 'delete_rate', rate_id: before[0].id }, target),
        404,
        'rate_not_found',
      );
      expectError(await save(TWO, [], 'admin', target), 404, 'courier_not_found');
      const air = { action: 'update_air_freight', courier_id: TWO, air_freight_rate: 9 };
      expectError(await manage('admin', air, target), 404, 'courier_not_found');
      expect(await foreign()).toEqual(before);
    } finally {
      await target.stop();
    }
  }, 60_000);
});
