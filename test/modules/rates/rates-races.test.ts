import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { until } from '../../support/service/processes.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { countWaiting } from '../../support/harness/meanwhile.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const CALLERS = rounds(24, 50);
const DELETERS = rounds(50, 200);
const ROUNDS = rounds(1, 5);
const { demo: DEMO_TENANT } = DEMO.tenants;

const { api, service } = withService({ poolSize: 40 });
beforeAll(async () => {
  await service().tokenOf('manager');
}, 60_000);

type Tier = { id?: number; startweight: number; endweight: number; fee: number };

const manage = (body: unknown): Promise<Reply> =>
  untilAdmitted(() => api.as('manager').manageCourierRates(unchecked(body)).answer());
const save = (courier_id: string | null, rates: Tier[]) =>
  manage({ action: 'save_rates', courier_id, rates });

async function newCourier(): Promise<string> {
  const id = randomUUID();
  await service().owner.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $3)', [
    DEMO_TENANT,
    id,
    id.slice(0, 8),
  ]);
  return id;
}

const statuses = (replies: Reply[]) => [...new Set(replies.map(({ status }) => status))].sort();

async function stored(courierId: string | null): Promise<Tier[]> {
  const { rows } = await service().owner.query(
    `select start_weight_lb::float as startweight, end_weight_lb::float as endweight, fee_usd::float as fee
     from rate_tiers where tenant_id = $1 and courier_id is not distinct from $2 order by start_weight_lb`,
    [DEMO_TENANT, courierId],
  );
  return rows;
}

/** Returns tables of different lengths and bounds. Each table's fees identify it. */
const tableOf = (caller: number): Tier[] =>
  Array.from({ length: 1 + (caller % 7) }, (_, n) => ({
    startweight: n * (1 + caller / 100),
    endweight: (n + 1) * (1 + caller / 100),
    fee: caller + n / 100,
  }));

const rounded = (table: Tier[]) =>
  table.map(({ startweight, endweight, fee }) => ({
    startweight: Number(startweight.toFixed(3)),
    endweight: Number(endweight.toFixed(3)),
    fee: Number(fee.toFixed(2)),
  }));

test.each([
  ['a courier’s', newCourier],
  ['the default', async () => null],
])(
  `${CALLERS} callers who save %s table at once leave exactly one of their tables, in ${ROUNDS} rounds`,
  async (_whose, makeCourier) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const courierId = await makeCourier();
      const inputs = Array.from({ length: CALLERS }, (_, caller) => rounded(tableOf(caller)));
      const replies = await Promise.all(inputs.map((input) => save(courierId, input)));
      expect(statuses(replies)).toEqual([200]);
      const left = await stored(courierId);
      expect(inputs).toContainEqual(left);
      // Each response contains the caller's own table.
      for (const [index, { body }] of replies.entries()) {
        expect(rounded(body['data'].rates)).toEqual(inputs[index]);
      }
    }
  },
  120_000,
);

test('a save of the default table that starts during another one replaces what the other one saved', async () => {
  const inputs = [tableOf(2), tableOf(5)].map(rounded);
  const replies = await startTogether(inputs.map((input) => () => save(null, input)));
  expect(statuses(replies)).toEqual([200]);
  expect(inputs).toContainEqual(await stored(null));
  // Without the lock, both would start from the same table, and the second one would add to the first one's tiers.
  const { rows } = await service().owner.query(
    `select before, after from audit_entries where action = 'rates.saved' and entity_id = $1 order by id desc limit 2`,
    [DEMO_TENANT],
  );
  expect(rows[0].before).toEqual(rows[1].after);
});

/** Starts the calls while nobody can write tiers, and lets them continue when each of them waits for a lock. */
async function startTogether(calls: (() => Promise<Reply>)[]): Promise<Reply[]> {
  const holder = await service().owner.connect();
  try {
    await holder.query('begin');
    // Readers do not wait for this lock.
    await holder.query('lock table rate_tiers in share row exclusive mode');
    const replies = Promise.all(calls.map((call) => call()));
    await until(async () => (await countWaiting(service().owner)) === calls.length);
    await holder.query('commit');
    return await replies;
  } finally {
    // Closing the connection ends the transaction if it is still open.
    holder.release(true);
  }
}

test(`the audit log of ${CALLERS} callers who update the same rows by id forms a chain without gaps`, async () => {
  const courierId = await newCourier();
  const first = await save(courierId, tableOf(6));
  const ids: number[] = first.body['data'].rates.map(({ id }: { id: number }) => id);
  const replies = await Promise.all(
    Array.from({ length: CALLERS }, (_, caller) =>
      save(
        courierId,
        ids.map((id, n) => ({ id, startweight: n, endweight: n + 1, fee: 1_000 + caller })),
      ),
    ),
  );
  expect(statuses(replies)).toEqual([200]);
  const { rows } = await service().owner.query(
    'select before, after from audit_entries where entity_id = $1 order by id',
    [courierId],
  );
  expect(rows).toHaveLength(CALLERS + 1);
  const after = rows.map((row) => JSON.stringify(row.after));
  const before = rows.map((row) => JSON.stringify(row.before));
  // Each save started from the table that the previous one left, so every table but the last is a "before" exactly
  // once.
  const chain = new Map(before.map((text, index) => [text, after[index]]));
  let table: string | undefined = JSON.stringify({ rates: [] });
  for (let step = 0; step <= CALLERS; step += 1) table = chain.get(table ?? '');
  expect(JSON.parse(table ?? '').rates.map(({ fee_usd }: { fee_usd: string }) => Number(fee_usd))).toEqual(
    (await stored(courierId)).map(({ fee }) => fee),
  );
});

test(`${CALLERS} callers who save, copy and delete the same table at once leave one complete outcome, in ${ROUNDS} rounds`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const courierId = await newCourier();
    const first = await save(courierId, tableOf(3));
    const ids: number[] = first.body['data'].rates.map(({ id }: { id: number }) => id);
    const defaults = await stored(null);
    const calls = Array.from({ length: CALLERS }, (_, caller) => {
      if (caller % 3 === 0) return save(courierId, rounded(tableOf(caller)));
      if (caller % 3 === 1) return manage({ action: 'copy_default', courier_id: courierId });
      return manage({ action: 'delete_rate', rate_id: ids[caller % ids.length] });
    });
    const replies = await Promise.all(calls);
    // A tier that was replaced before the delete responds with 404.
    expect(statuses(replies).filter((status) => status !== 200 && status !== 404)).toEqual([]);
    const left = await stored(courierId);
    const outcomes = replies
      .filter(({ status }) => status === 200)
      .map(({ body }) => rounded(body['data'].rates));
    expect(outcomes).toContainEqual(left);
    // No response mixes tables: it has the saved table, the default table, or the rest of the first table.
    for (const [caller, { status, body }] of replies.entries()) {
      if (status !== 200) continue;
      const returned = rounded(body['data'].rates);
      if (caller % 3 === 0) expect(returned).toEqual(rounded(tableOf(caller)));
      else if (caller % 3 === 1) expect(returned).toEqual(defaults);
      else expect(rounded(tableOf(3))).toEqual(expect.arrayContaining(returned));
    }
  }
}, 120_000);

test('couriers who copy the default table while it is saved get one complete table', async () => {
  const couriers = await Promise.all(Array.from({ length: CALLERS }, newCourier));
  const before = await stored(null);
  const inputs = [tableOf(5), tableOf(12), tableOf(26)].map(rounded);
  const saves = inputs.map((input) => save(null, input));
  const copies = couriers.map((courier_id) => manage({ action: 'copy_default', courier_id }));
  await Promise.all([...saves, ...copies]);
  for (const courierId of couriers) expect([before, ...inputs]).toContainEqual(await stored(courierId));
});

test(`of ${DELETERS} callers who delete one tier at once, one succeeds`, async () => {
  const courierId = await newCourier();
  const first = await save(courierId, tableOf(6));
  const [tier] = first.body['data'].rates;
  const replies = await Promise.all(
    Array.from({ length: DELETERS }, () => manage({ action: 'delete_rate', rate_id: tier.id })),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(replies.filter(({ status }) => status === 404)).toHaveLength(DELETERS - 1);
  const { rows } = await service().owner.query(
    "select count(*)::int as n from audit_entries where entity_id = $1 and action = 'rate.deleted'",
    [courierId],
  );
  expect(rows).toEqual([{ n: 1 }]);
});

test('a preview uses one complete table while the table is saved repeatedly', async () => {
  const courierId = await newCourier();
  // Each table has the same fee in all bands, so that a mix of two tables would be visible.
  const tableWithFee = (fee: number): Tier[] =>
    Array.from({ length: 10 }, (_, n) => ({ startweight: n, endweight: n + 1, fee }));
  await save(courierId, tableWithFee(1));
  await service().owner.query(
    `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id)
     select $1, gen_random_uuid(), $2, 'RACE-' || n, 'RACE-' || n, 'RACE-' || n, n / 10.0, $3 from generate_series(1, 100) n`,
    [DEMO_TENANT, courierId, DEMO.warehouses.primary],
  );
  const body = { courier_id: courierId, start_date: '2020-01-01', end_date: '2099-12-31' };
  const preview = () => untilAdmitted(() => api.as('manager').previewCourierInvoice(body).answer());
  const state = { isSaving: true };
  const saving = (async () => {
    for (let fee = 2; fee <= rounds(10, 60); fee += 1) await save(courierId, tableWithFee(fee));
    state.isSaving = false;
  })();
  const seen = new Set<number>();
  while (state.isSaving) {
    for (const { data } of await Promise.all([preview(), preview(), preview()])) {
      const { packages, summary, breakdown } = data;
      const fees = new Set<number>(packages.map(({ applied_fee }: { applied_fee: number }) => applied_fee));
      expect(fees.size).toBe(1);
      const [fee = 0] = fees;
      seen.add(fee);
      expect(summary).toMatchObject({ total_packages: 100, total_fees: 100 * fee });
      expect(breakdown.map(({ rate, count }: { rate: number; count: number }) => [rate, count])).toEqual(
        Array.from({ length: 10 }, () => [fee, 10]),
      );
    }
  }
  await saving;
  expect(seen.size).toBeGreaterThan(3);
}, 120_000);
