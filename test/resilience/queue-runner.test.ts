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
/** Rounds of the race. Set QUEUE_ROUNDS=2000 after a change to the runner. */
const ROUNDS = Number(process.env['QUEUE_ROUNDS'] ?? rounds(12, 100));
const JOBS_PER_ROUND = 4;
// three missed heartbeats take 3 s
const HEARTBEAT_S = 1;

let database: TestDatabase;
let owner: pg.Pool;
const replicas: { queue: RunningQueue; pool: pg.Pool }[] = [];

/** How often each job was started and ended, and its maximum concurrency. */
let started: Map<string, number>;
let ended: Map<string, number>;
let maxConcurrency: Map<string, number>;
/** The duration of a job. */
let workMs = 0;

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
  owner.on('error', () => undefined);
});

beforeEach(async () => {
  [started, ended, maxConcurrency] = [new Map(), new Map(), new Map()];
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

const noop = async () => undefined;
const increment = (counts: Map<string, number>, id: string, by: number) =>
  counts.set(id, (counts.get(id) ?? 0) + by);

const tasks: Tasks = {
  deliver: noop,
  sendAccountMail: noop,
  preparePasswordReset: noop,
  syncCustomers: noop,
  scheduleCustomerSyncs: noop,
  sweep: noop,
  sealAuditLog: noop,
  runBackgroundMigrations: noop,
  prune: noop,
  async sendManifestMail({ mailId }) {
    increment(started, mailId, 1);
    running += 1;
    runningNow.set(mailId, (runningNow.get(mailId) ?? 0) + 1);
    maxConcurrency.set(mailId, Math.max(maxConcurrency.get(mailId) ?? 0, runningNow.get(mailId) ?? 0));
    await sleep(workMs);
    runningNow.set(mailId, (runningNow.get(mailId) ?? 0) - 1);
    running -= 1;
    increment(ended, mailId, 1);
  },
};
const runningNow = new Map<string, number>();
let running = 0;

/** Starts a replica's worker with its own connections. */
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

/** Blocks the start of graphile-worker, which first reads its migrations table. */
async function blockStarts(): Promise<() => Promise<void>> {
  const client = await owner.connect();
  await client.query('begin; lock table graphile_worker.migrations');
  return async () => {
    await client.query('rollback');
    client.release();
  };
}

const untilStartBlocked = () =>
  until(
    async () =>
      (await count("pg_locks where not granted and relation = 'graphile_worker.migrations'::regclass")) > 0,
  );

/** Counts the connections of all runners. */
const countListeners = () =>
  count(
    "pg_stat_activity where datname = current_database() and application_name = 'crossdock' and query like 'LISTEN%'",
  );

test(
  'a stop during start-up waits for the start, and the runner takes no job',
  async () => {
    const unblock = await blockStarts();
    const queue = startQueue();
    await untilStartBlocked();
    await addJobs(3);
    // It cannot stop yet and returns false.
    expect(await queue.stop(50)).toBe(false);
    await unblock();
    // Long enough for a running worker to fetch a job, and for a restart.
    await sleep(2_500);
    expect(started.size).toBe(0);
    expect([await countJobs(), await countLocked(), await countListeners()]).toEqual([3, 0, 0]);
    expect(await queue.stop(10_000)).toBe(true);
    expect(await count('queue.worker_pools')).toBe(0);
  },
  LIMIT_MS,
);

test(
  'a heartbeat that ends during the stop leaves no worker behind',
  async () => {
    await owner.query(`
      create function slow_heartbeat() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.5); return new; end $$;
      create trigger slow_heartbeat before insert on queue.worker_pools for each row execute function slow_heartbeat()`);
    try {
      const queue = startQueue();
      await until(
        async () =>
          (await count("pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'")) > 0,
      );
      expect(await queue.stop(10_000)).toBe(true);
      await until(
        async () =>
          (await count("pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'")) ===
          0,
      );
      expect(await count('queue.worker_pools')).toBe(0);
    } finally {
      await owner.query('drop function slow_heartbeat cascade');
    }
  },
  LIMIT_MS,
);

test(
  'a stop during a restart stops the new runner too',
  async () => {
    const queue = startQueue();
    await addJobs(1);
    await until(async () => (await countJobs()) === 0);
    const unblock = await blockStarts();
    // A replica of a newer build has changed graphile-worker's tables: the runner ends by itself and is
    // restarted.
    const exitCode = process.exitCode;
    await owner.query(`select pg_notify('worker:migrate', '{"breaking":true,"migrationNumber":99}')`);
    await untilStartBlocked();
    process.exitCode = exitCode;
    const ids = await addJobs(3);
    expect(await queue.stop(50)).toBe(false);
    await unblock();
    // Long enough for a running worker to fetch a job, and for a restart.
    await sleep(2_500);
    expect(ids.filter((id) => started.has(id))).toEqual([]);
    expect([await countJobs(), await countLocked(), await countListeners()]).toEqual([3, 0, 0]);
    expect(await queue.stop(10_000)).toBe(true);
  },
  LIMIT_MS,
);

test(
  'a stop between two attempts to start without a database returns at once',
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
    // It does not wait for the full second between attempts.
    expect(performance.now() - startedMs).toBeLessThan(900);
  },
  LIMIT_MS,
);

test(
  'a job that exceeds the time limit stays locked while it runs, and no other worker starts it',
  async () => {
    // longer than three missed heartbeats
    workMs = 5_000;
    const [id = ''] = await addJobs(1);
    const queue = startQueue();
    await until(async () => started.has(id));
    startQueue();
    expect(await queue.stop(100)).toBe(false);
    expect(await countLocked()).toBe(1);
    await until(async () => ended.has(id), 20_000);
    expect(await queue.stop(10_000)).toBe(true);
    await until(async () => (await countJobs()) === 0);
    expect([started.get(id), ended.get(id), maxConcurrency.get(id)]).toEqual([1, 1, 1]);
  },
  LIMIT_MS,
);

test(
  `after stops at ${ROUNDS} different moments of start-up and work, no job is lost or executed twice`,
  async () => {
    // Another replica runs all the time and would start a job that is released too early.
    startQueue();
    workMs = 15;
    const ids: string[] = [];
    const problems: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const queue = startQueue();
      ids.push(...(await addJobs(JOBS_PER_ROUND)));
      await sleep((round * 7) % 80);
      const isQuiet = await queue.stop(10_000);
      const { pool } = replicas.at(-1) ?? {};
      replicas.pop();
      await pool?.end();
      if (!isQuiet) problems.push(['not quiet', round]);
    }
    await until(async () => (await countJobs()) === 0);
    expect(problems).toEqual([]);
    expect(
      ids.filter((id) => started.get(id) !== 1 || ended.get(id) !== 1 || maxConcurrency.get(id) !== 1),
    ).toEqual([]);
    expect([ids.length, running]).toEqual([ROUNDS * JOBS_PER_ROUND, 0]);
  },
  LIMIT_MS,
);
