import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { deviceScan, type DeviceScan, type SentScans } from '../../../support/scans/device-scans.js';
import { holdParcel, numbersWithLocks, type HeldParcel } from '../../../support/scans/parcel-locks.js';
import { ask, codeOf, type Answer } from '../../../support/service/client.js';
import { endProcesses, startReplica, until, type Replica } from '../../../support/service/processes.js';
import { startService, type Service } from '../../../support/service/service.js';

// A batch with an Idempotency-Key that fails between its pieces is completed by a repetition, in whichever process (decision 0096).

const SCANS = 250;
const PIECE = 100;

let service: Service;

beforeAll(async () => {
  service = await startService();
});

const heldParcels: HeldParcel[] = [];
const locked: pg.PoolClient[] = [];

async function hold(number: string): Promise<HeldParcel> {
  const held = await holdParcel(service.owner, number);
  heldParcels.push(held);
  return held;
}

afterEach(async () => {
  for (const client of locked.splice(0)) client.release(true);
  await Promise.all(heldParcels.splice(0).map(({ free }) => free()));
  await endProcesses();
});

afterAll(async () => {
  await service.stop();
});

async function startProcess(): Promise<Replica> {
  const url = String((service.owner.options as pg.PoolConfig).connectionString);
  return startReplica({ DATABASE_URL: url, DATABASE_OWNER_URL: url, POOL_SIZE: '6', RUN_WORKER: 'false' });
}

type Batch = {
  scans: DeviceScan[];
  /** The numbers that are received, by piece. No two pieces have a lock in common. */
  pieces: string[][];
  post(url: string): Promise<Answer>;
};

const LOCKS_PER_PIECE = 40;

async function numbersOf(piece: number, count: number): Promise<string[]> {
  const from = (piece - 1) * LOCKS_PER_PIECE;
  const lists = [1, 2, 3].map(() => numbersWithLocks(service.owner, from, from + LOCKS_PER_PIECE));
  return (await Promise.all(lists)).flat().slice(0, count);
}

/** A batch of receipts, and of scans that are refused. */
async function makeBatch(): Promise<Batch> {
  const pieces = await Promise.all([numbersOf(1, PIECE), numbersOf(2, PIECE), numbersOf(3, PIECE / 2)]);
  const scans = pieces
    .flatMap((numbers) => [...numbers.map((number) => ({ number, weight: 1 })), { number: 'X', weight: -1 }])
    .map(({ number, weight }, n) => deviceScan('receive', number, 1_000 - n, { weight }));
  const headers = {
    authorization: `Bearer ${await service.tokenOf('warehouse')}`,
    'idempotency-key': randomUUID(),
  };
  const body = { station: 'Dock 1', scans };
  const post = (url: string) => ask(url, { method: 'POST', path: '/api/ScanBatch.php', headers, body });
  return { scans, pieces, post };
}

// The contract defines this shape of a successful response.
const dataOf = ({ text }: Answer) => (JSON.parse(text) as { data: SentScans }).data;

async function expectComplete({ scans }: Batch, answer: Answer, least: { repeated: number }): Promise<void> {
  expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
  const { results, done, repeated, refused, conflict } = dataOf(answer);
  expect(results.map(({ scan_id }) => scan_id)).toEqual(scans.map(({ scan_id }) => scan_id));
  expect([done + repeated, refused, conflict]).toEqual([SCANS, 3, 0]);
  expect(repeated).toBeGreaterThanOrEqual(least.repeated);
  const withoutParcel = results.filter(
    ({ result, outcome, parcel }) => result !== 'refused' && (outcome !== 'done' || !parcel?.package_id),
  );
  expect(withoutParcel).toEqual([]);
  expect(await counts(scans)).toEqual({ scans: SCANS, packages: SCANS });
}

async function counts(scans: DeviceScan[]): Promise<{ scans: number; packages: number } | undefined> {
  const { rows } = await service.owner.query<{ scans: number; packages: number }>(
    `select (select count(*)::int from scans where id = any($1::uuid[])) as scans,
       (select count(*)::int from packages where tracking_number = any($2)) as packages`,
    [scans.map(({ scan_id }) => scan_id), scans.map(({ scan }) => scan)],
  );
  return rows[0];
}

/** Sends the batch until its outcome is known, as a station does. */
async function untilAnswered({ post }: Batch, urls: string[]): Promise<Answer> {
  for (let n = 0; n < 100; n += 1) {
    const answer = await post(urls[n % urls.length] ?? '');
    if (answer.status < 500 && !answer.text.includes('idempotency_in_progress')) return answer;
  }
  throw new Error('The batch has no outcome.');
}

/** The first scan of a piece, whose parcel a transaction of the service then waits for. */
const firstOf = ({ pieces }: Batch, piece: number) => pieces[piece - 1]?.[0] ?? '';

test.each([2, 3])(
  'a process that is killed in piece %i: others complete the batch, and each scan has one result',
  async (piece) => {
    const [first, second] = [await startProcess(), await startProcess()];
    const batch = await makeBatch();
    const held = await hold(firstOf(batch, piece));
    const lost = batch.post(first.url).catch(codeOf);
    await until(held.isAwaited);
    expect((await counts(batch.scans))?.scans).toBe((piece - 1) * PIECE);
    await first.stop('SIGKILL');
    expect(await lost).not.toHaveProperty('status');
    await held.free();
    const answer = await untilAnswered(batch, [second.url, service.url]);
    await expectComplete(batch, answer, { repeated: (piece - 1) * PIECE });
    const replayed = await batch.post(service.url);
    expect([replayed.headers['idempotency-replayed'], dataOf(replayed)]).toEqual(['true', dataOf(answer)]);
  },
  60_000,
);

test('a process that is killed before it stores the response: others complete the batch', async () => {
  const [first, second] = [await startProcess(), await startProcess()];
  const batch = await makeBatch();
  const locker = await service.owner.connect();
  locked.push(locker);
  await locker.query('begin; lock table idempotency_keys in share row exclusive mode');
  const lost = batch.post(first.url).catch(codeOf);
  await until(async () => {
    const { rows } = await service.owner.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  await first.stop('SIGKILL');
  expect(await lost).not.toHaveProperty('status');
  await locker.query('rollback');
  const answer = await untilAnswered(batch, [second.url]);
  await expectComplete(batch, answer, { repeated: 2 * PIECE });
}, 60_000);

test('a station that repeats a batch in other processes while it is executed gets each result once', async () => {
  const processes = [await startProcess(), await startProcess()];
  const urls = [service.url, ...processes.map(({ url }) => url)];
  const batch = await makeBatch();
  const held = await hold(firstOf(batch, 2));
  const answers = [...urls, ...urls].map((url) => untilAnswered(batch, [url]));
  await until(held.isAwaited);
  await held.free();
  for (const answer of await Promise.all(answers)) {
    const { results } = dataOf(answer);
    expect(results.map(({ scan_id }) => scan_id)).toEqual(batch.scans.map(({ scan_id }) => scan_id));
  }
  await expectComplete(batch, await batch.post(service.url), { repeated: 0 });
  // All that were stored got the same response.
  const texts = new Set((await Promise.all(answers)).map((answer) => JSON.stringify(dataOf(answer))));
  expect(texts.size).toBe(1);
}, 120_000);

test('an operator that kills processes again and again: the batch is complete in the end', async () => {
  const batch = await makeBatch();
  for (const piece of [1, 2, 3, 3]) {
    const victim = await startProcess();
    const held = await hold(firstOf(batch, piece));
    const lost = batch.post(victim.url).catch(codeOf);
    await until(held.isAwaited);
    await victim.stop('SIGKILL');
    await lost;
    await held.free();
  }
  await expectComplete(batch, await untilAnswered(batch, [service.url]), { repeated: 2 * PIECE });
}, 120_000);
