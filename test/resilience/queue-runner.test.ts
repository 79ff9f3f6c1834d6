import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { createPool } from '../../src/platform/db/connections/pool.js';
import { runQueue, type RunningQueue, type Tasks } from '../../src/platform/queue/runner.js';
import { freshDatabase, type TestDatabase } from '../support/service/database.js';
import { rounds } from '../support/harness/effort.js';
import { until } from '../support/service/processes.js';

const LIMIT_MS = 120_000;
/** Rounds of the race; QUEUE_ROUNDS=2000 is for those who changed the runner. */
const ROUNDS = Number(process.env['QUEUE_ROUNDS'] ?? rounds(40, 100));
const JOBS_PER_ROUND = 4;
// three missed signs of life are 3 s
const HEARTBEAT_S = 1;

let database: TestDatabase;
let owner: pg.Pool;
const replicas: { queue: RunningQueue; pool: pg.Pool }[] = [];

/** How often each job was begun and ended, and by how many at once it ever ran. */
let begun: Map<string, number>;
let ended: Map<string, number>;
let atOnce: Map<string, number>;
/** How long a job takes. */
let workMs = 0;

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
  owner.on('error', () => undefined);
});

beforeEach(async () => {
  [begun, ended, atOnce] = [new Map(), new Map(), new Map()];
  workMs = 0;
  await owner.query('delete from graphile_worker._private_jobs; delete from queue.worker_pools');
});

afterEach(async () => {
  for (const { queue, pool } of replicas.splice(0)) {
    await queue.stop(10_000);
    await pool.end();
  }
});

afterAll(async () => {
  await owner.end();
  await database.drop();
});

const idle = async () => undefined;
const more = (counts: Map<string, number>, id: string, by: number) =>
  counts.set(id, (counts.get(id) ?? 0) + by);

const tasks: Tasks = {
  deliver: idle,
  sendAccountMail: idle,
  preparePasswordReset: idle,
  syncCustomers: idle,
  scheduleCustomerSyncs: idle,
  sweep: idle,
  sealAuditLog: idle,
  prune: idle,
  async sendManifestMail({ mailId }) {
    more(begun, mailId, 1);
    running += 1;
    runningNow.set(mailId, (runningNow.get(mailId) ?? 0) + 1);
    atOnce.set(mailId, Math.max(atOnce.get(mailId) ?? 0, runningNow.get(mailId) ?? 0));
    await sleep(workMs);
    runningNow.set(mailId, (runningNow.get(mailId) ?? 0) - 1);
    running -= 1;
    more(ended, mailId, 1);
  },
};
const runningNow = new Map<string, number>();
let running = 0;

/** A replica's worker, on connections of its own. */
function startQueue(): RunningQueue {
  const pool = createPool({
    url: database.ownerUrl,
    assumeRole: 'crossdock_app',
    size: 4,
    isPipelined: false,
    onError: () => undefined,
  });
  const queue = runQueue({
    pg: pool,
    tasks,
    concurrency: 4,
    heartbeatSeconds: HEARTBEAT_S,
    log: () => undefined,
  });
  replicas.push({ queue, pool });
  return queue;
}

async function addJobs(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await owner.query(
    `select graphile_worker.add_job('sendManifestMail', json_build_object('tenantId', id, 'mailId', id))
     from unnest($1::text[]) as id`,
    [ids],
  );
  return ids;
}

async function count(what: string): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(`select count(*)::int as n from ${what}`);
  return rows[0]?.n ?? -1;
}

const countJobs = () => count("graphile_worker.jobs where task_identifier = 'sendManifestMail'");
const countLocked = () => count('graphile_worker._private_jobs where locked_by is not null');

/** Holds up the library's start: the first that it asks is which of its migrations there are. */
async function holdStarts(): Promise<() => Promise<void>> {
  const client = await owner.connect();
  await client.query('begin; lock table graphile_worker.migrations');
  return async () => {
    await client.query('rollback');
    client.release();
  };
}

const untilHeld = () =>
  until(
    async () =>
      (await count("pg_locks where not granted and relation = 'graphile_worker.migrations'::regclass")) > 0,
  );

/** Everybody's connections but ours. */
const listening = () =>
  count(
    "pg_stat_activity where datname = current_database() and application_name = 'crossdock' and query like 'LISTEN%'",
  );

test(
  'told to stop while it starts, it waits for the start, and the runner that comes takes no job',
  async () => {
    const letGo = await holdStarts();
    const queue = startQueue();
    await untilHeld();
    await addJobs(3);
    // it cannot be stopped while it waits, and says so
    expect(await queue.stop(50)).toBe(false);
    await letGo();
    // long enough for one that still ran to fetch, and for a restart
    await sleep(2_500);
    expect(begun.size).toBe(0);
    expect([await countJobs(), await countLocked(), await listening()]).toEqual([3, 0, 0]);
    expect(await queue.stop(10_000)).toBe(true);
    expect(await count('queue.worker_pools')).toBe(0);
  },
  LIMIT_MS,
);

test(
  'told to stop during a restart, it stops the runner that replaces the one that ended',
  async () => {
    const queue = startQueue();
    await addJobs(1);
    await until(async () => (await countJobs()) === 0);
    const letGo = await holdStarts();
    // a replica of a newer build has changed the library's tables: the runner ends by itself, and is started again
    const exitCode = process.exitCode;
    await owner.query(`select pg_notify('worker:migrate', '{"breaking":true,"migrationNumber":99}')`);
    await untilHeld();
    process.exitCode = exitCode;
    const ids = await addJobs(3);
    expect(await queue.stop(50)).toBe(false);
    await letGo();
    // long enough for one that still ran to fetch, and for a restart
    await sleep(2_500);
    expect(ids.filter((id) => begun.has(id))).toEqual([]);
    expect([await countJobs(), await countLocked(), await listening()]).toEqual([3, 0, 0]);
    expect(await queue.stop(10_000)).toBe(true);
  },
  LIMIT_MS,
);

test(
  'told to stop between two attempts to start, without the database, it has nothing to wait for',
  async () => {
    const pool = createPool({
      url: 'postgres://nobody@127.0.0.1:1/none',
      size: 1,
      isPipelined: false,
      onError: () => undefined,
    });
    const lines: string[] = [];
    const log = ({ text }: { text: string }) => void lines.push(text);
    const queue = runQueue({ pg: pool, tasks, concurrency: 4, heartbeatSeconds: HEARTBEAT_S, log });
    replicas.push({ queue, pool });
    await until(async () => lines.some((line) => line.includes('The queue stopped')));
    const startedMs = performance.now();
    expect(await queue.stop(10_000)).toBe(true);
    // it does not sleep out the pause of a second
    expect(performance.now() - startedMs).toBeLessThan(900);
  },
  LIMIT_MS,
);

test(
  'a job that outlasts the time limit stays locked while it runs, and no other worker begins it',
  async () => {
    // more than three missed signs of life
    workMs = 5_000;
    const [id = ''] = await addJobs(1);
    const queue = startQueue();
    await until(async () => begun.has(id));
    startQueue();
    expect(await queue.stop(100)).toBe(false);
    expect(await countLocked()).toBe(1);
    await until(async () => ended.has(id), 20_000);
    expect(await queue.stop(10_000)).toBe(true);
    await until(async () => (await countJobs()) === 0);
    expect([begun.get(id), ended.get(id), atOnce.get(id)]).toEqual([1, 1, 1]);
  },
  LIMIT_MS,
);

test(
  `stopped at ${ROUNDS} different moments of starting and working, it ends quietly, and no job is lost or done twice`,
  async () => {
    // another replica works all the while: it would begin what is given back too early
    startQueue();
    workMs = 15;
    const ids: string[] = [];
    const faults: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const queue = startQueue();
      ids.push(...(await addJobs(JOBS_PER_ROUND)));
      await sleep((round * 7) % 80);
      const isQuiet = await queue.stop(10_000);
      const { pool } = replicas.at(-1) ?? {};
      replicas.pop();
      await pool?.end();
      if (!isQuiet) faults.push(['not quiet', round]);
    }
    await until(async () => (await countJobs()) === 0);
    expect(faults).toEqual([]);
    expect(ids.filter((id) => begun.get(id) !== 1 || ended.get(id) !== 1 || atOnce.get(id) !== 1)).toEqual(
      [],
    );
    expect([ids.length, running]).toEqual([ROUNDS * JOBS_PER_ROUND, 0]);
  },
  LIMIT_MS,
);
