import { afterEach, describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeCombiner } from '../../../src/platform/context/shared-write.js';
import { CUSTOMERS, type CourierCode } from '../../support/builders/parcels.js';
import { rounds } from '../../support/harness/effort.js';
import { until } from '../../support/service/processes.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { countWaiting } from '../../support/harness/meanwhile.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, service } = withService();
let unlock: (() => Promise<void>) | undefined;

afterEach(async () => {
  await unlock?.();
});

const submit = (courier: CourierCode, TrackingNumber: string, UserCode: string = CUSTOMERS[courier]) =>
  untilAdmitted(() =>
    api.withKey(DEMO.apiKeys[courier]).submitPrealert({ UserCode, TrackingNumber }).answer(),
  );

type StoredRow = { tracking_number: string; courier_id: string; written_by: string };

const stored = async (prefix: string): Promise<StoredRow[]> =>
  (
    await service().owner.query<StoredRow>(
      `select tracking_number, courier_id, xmin::text as written_by from prealerts where tracking_number like $1 || '%'`,
      [prefix],
    )
  ).rows;

const transactionsOf = (rows: StoredRow[]) => new Set(rows.map(({ written_by }) => written_by)).size;

/** Holds the lock of every parcel of the tenant, as a large intake does, until `unlock`. */
async function lockParcels(): Promise<void> {
  const client: pg.PoolClient = await service().owner.connect();
  await client.query('begin');
  await client.query(
    'select pg_advisory_xact_lock(hashtext($1), lock) from generate_series(0, 127) as lock',
    [`parcels ${DEMO.tenants.demo}`],
  );
  unlock = async () => {
    unlock = undefined;
    await client.query('rollback');
    client.release();
  };
}

const CALLERS = rounds(100, 400);

test(`${CALLERS} callers of two keys at once need fewer transactions than requests, none of which is for both couriers`, async () => {
  await lockParcels();
  const sent = Array.from({ length: CALLERS }, (_, n) => submit(n % 2 ? 'IEX' : 'HRB', `TOGETHER-${n}`));
  await until(async () => (await countWaiting(service().owner)) >= 2);
  await unlock?.();
  const replies = await Promise.all(sent);
  expect(replies.map(({ status }) => status)).toEqual(Array<number>(CALLERS).fill(201));
  const rows = await stored('TOGETHER-');
  expect(rows).toHaveLength(CALLERS);
  expect(transactionsOf(rows)).toBeLessThan(CALLERS);
  const ofTransaction = new Set(rows.map(({ written_by, courier_id }) => `${written_by} ${courier_id}`));
  expect(ofTransaction.size).toBe(transactionsOf(rows));
  for (const [courier, parity] of [
    ['IEX', 1],
    ['HRB', 0],
  ] as const) {
    const numbers = rows
      .filter(({ courier_id }) => courier_id === DEMO.couriers[courier])
      .map(({ tracking_number }) => Number(tracking_number.slice('TOGETHER-'.length)) % 2);
    expect(new Set(numbers)).toEqual(new Set([parity]));
  }
});

test('each of the requests that share a transaction gets its own response, id and audit entry', async () => {
  await lockParcels();
  // The first one waits for the lock, and the others for the first one.
  const waiting = [
    submit('IEX', 'OWN-FIRST'),
    ...['OWN-A', 'OWN-B', 'OWN-A', 'OWN-C'].map((number) => submit('IEX', number)),
    submit('IEX', 'OWN-D', 'IEX-9999'),
    submit('IEX', 'OWN-E', CUSTOMERS.HRB),
  ];
  await until(async () => (await countWaiting(service().owner)) >= 2);
  await unlock?.();
  const replies = await Promise.all(waiting);
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 400, 400, 409]);
  expect(replies.map(codeOf).sort()).toEqual(
    ['duplicate_tracking_number', 'unknown_user_code', 'unknown_user_code', ...Array<string>(4)].sort(),
  );
  const rows = await stored('OWN-');
  expect(rows.map(({ tracking_number }) => tracking_number).sort()).toEqual([
    'OWN-A',
    'OWN-B',
    'OWN-C',
    'OWN-FIRST',
  ]);
  expect(transactionsOf(rows)).toBeLessThan(rows.length);
  for (const { status, data, headers } of replies) {
    const { rows: entries } = await service().owner.query(
      `select a.entity_id, a.actor_id, a.after->>'tracking_number' as number from audit_entries a where a.request_id = $1`,
      [headers.get('x-request-id')],
    );
    expect(entries).toEqual(
      status === 201
        ? [
            {
              entity_id: data.prealert_id,
              actor_id: DEMO.couriers.IEX,
              number: expect.stringMatching(/^OWN-/),
            },
          ]
        : [],
    );
  }
});

const codeOf = ({ body }: Reply): string | undefined => body['code'];

test('while one transaction waits for a lock, others of the key start beside it', async () => {
  const client = await service().owner.connect();
  await client.query('begin');
  // Only this parcel's lock.
  await client.query('select pg_advisory_xact_lock(hashtext($1), hashtext($2) & 127)', [
    `parcels ${DEMO.tenants.demo}`,
    'SLOW1',
  ]);
  const slow = submit('IEX', 'SLOW1');
  await until(async () => (await countWaiting(service().owner)) === 1);
  const { rows } = await service().owner.query<{ number: string }>(
    `select 'FREE' || n as number from generate_series(1, 40) n where hashtext('FREE' || n) & 127 <> hashtext('SLOW1') & 127`,
  );
  const free = await Promise.all(rows.map(({ number }) => submit('IEX', number)));
  expect(new Set(free.map(({ status }) => status))).toEqual(new Set([201]));
  expect(await countWaiting(service().owner)).toBe(1);
  await client.query('rollback');
  client.release();
  expect((await slow).status).toBe(201);
});

test('pre-alerts of a parcel that a long transaction has locked do not hold those that are written with them', async () => {
  const client = await service().owner.connect();
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock(hashtext($1), hashtext($2) & 127)', [
    `parcels ${DEMO.tenants.demo}`,
    'HELD0',
  ]);
  const { rows } = await service().owner.query<{ number: string; held: boolean }>(
    `select number, held from (
       select 'HELD' || n as number, hashtext('HELD' || n) & 127 = hashtext('HELD0') & 127 as held
       from generate_series(0, 4000) n) as numbers
     where held or number < 'HELD13' order by number`,
  );
  const heldNumbers = rows.filter(({ held }) => held).slice(0, 12);
  const freeNumbers = rows.filter(({ held }) => !held).slice(0, 60);
  expect([heldNumbers.length, freeNumbers.length]).toEqual([12, 60]);
  const held: Promise<Reply>[] = [];
  const free: Promise<Reply>[] = [];
  for (const [n, { number }] of freeNumbers.entries()) {
    const blocked = n % 5 === 0 ? heldNumbers[n / 5] : undefined;
    if (blocked) held.push(submit('IEX', blocked.number));
    free.push(submit('IEX', number));
  }
  // None of them waits for the lock, which is held until all have answers.
  const answers = await Promise.all(free);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  await client.query('rollback');
  client.release();
  expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([201]));
});

describe('the combiner', () => {
  const refused = Object.assign(new Error('a constraint'), { code: '23514' });

  test('writes each item alone if the database refuses one of them, and only that one fails', async () => {
    const combiner = makeCombiner<number, number>();
    const written: number[][] = [];
    const write = async (items: readonly number[]) => {
      written.push([...items]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (items.includes(3)) throw refused;
      return items.map((item) => item * 10);
    };
    const results = await Promise.allSettled([1, 2, 3, 4].map((item) => combiner.run('key', item, write)));
    expect(results).toEqual([
      { status: 'fulfilled', value: 10 },
      { status: 'fulfilled', value: 20 },
      { status: 'rejected', reason: refused },
      { status: 'fulfilled', value: 40 },
    ]);
    expect(written).toEqual([[1], [2, 3, 4], [2], [3], [4]]);
  });

  test('repeats nothing after an error that leaves open whether the transaction was committed', async () => {
    const combiner = makeCombiner<number, number>();
    const lost = Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    let calls = 0;
    const write = async () => {
      calls += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw lost;
    };
    const results = await Promise.allSettled([1, 2, 3].map((item) => combiner.run('key', item, write)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(calls).toBe(2);
  });

  test('runs at most four transactions of a key, of at most 50 items, and rejects what waited two seconds', async () => {
    const combiner = makeCombiner<number, number>();
    const running: { items: number[]; end(): void }[] = [];
    const write = (items: readonly number[]) =>
      new Promise<number[]>((resolve) => {
        running.push({ items: [...items], end: () => resolve([...items]) });
      });
    const all = Array.from({ length: 200 }, (_, item) => combiner.run('key', item, write));
    const other = combiner.run('another key', 1, write);
    const settled = Promise.allSettled(all);
    await expect(all[199]).rejects.toMatchObject({ code: 'overloaded' });
    expect(running.map(({ items }) => items.length)).toEqual([1, 1, 50, 50, 50]);
    for (const { end } of running) end();
    expect(await other).toBe(1);
    const outcomes = await settled;
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(151);
    expect(outcomes.slice(151).map(({ status }) => status)).toEqual(Array(49).fill('rejected'));
    // The key's queue is empty again.
    const next = combiner.run('key', 7, (items) => Promise.resolve([...items]));
    expect(await next).toBe(7);
  });
});
