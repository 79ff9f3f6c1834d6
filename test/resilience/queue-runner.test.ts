import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { createPool } from '../../src/platform/db/connections/pool.js';
import { runQueue, type Tasks } from '../../src/platform/queue/runner.js';
import { expectSuccess } from '../support/assertions/scenario.js';
import { freshDatabase, type TestDatabase } from '../support/service/database.js';
import { rounds } from '../support/harness/effort.js';
import { until } from '../support/service/processes.js';
import { NO_TASKS } from '../support/workers/no-tasks.js';
import { startQueue, type QueueProcess } from '../support/workers/start-queue.js';

const LIMIT_MS = 120_000;
/** Rounds of the race. Set QUEUE_ROUNDS=2000 after a change to the runner. */
const ROUNDS = Number(process.env['QUEUE_ROUNDS'] ?? rounds(12, 100));
const JOBS_PER_ROUND = 4;
// three missed heartbeats take 3 s
const HEARTBEAT_S = 1;

/** A database with its runners. */
type Site = {
  database: TestDatabase;
  owner: pg.Pool;
  replicas: Pick<QueueProcess, 'queue' | 'pool'>[];
  work: Work;
};

/** What the jobs of a site have done. */
type Work = {
  /** How often each job was started and ended, how often it runs now, and its maximum concurrency. */
  started: Map<string, number>;
  ended: Map<string, number>;
  runningNow: Map<string, number>;
  maxConcurrency: Map<string, number>;
  running: number;
  /** The duration of a job. */
  takesMs: number;
};

let main: Site;
/** Slow checks: each starts before the tests with a site of its own, and its test awaits it. */
const WAITS = { stopDuringStart, stopDuringRestart, overdueJob };
const waits = new Map<keyof typeof WAITS, Promise<void>>();
const sites: Site[] = [];

beforeAll(async () => {
  main = await openSite();
  for (const name of ['stopDuringStart', 'stopDuringRestart', 'overdueJob'] as const) {
    const wait = WAITS[name](await openSite());
    wait.catch(() => {});
    waits.set(name, wait);
  }
});

beforeEach(async () => {
  main.work = newWork();
  await main.owner.query('delete from graphile_worker._private_jobs; delete from queue.worker_pools');
});

afterEach(() => endReplicas(main));

afterAll(async () => {
  await Promise.allSettled(waits.values());
  for (const site of sites) {
    await endReplicas(site);
    await site.owner.end();
    await site.database.drop();
  }
}, LIMIT_MS);

async function openSite(): Promise<Site> {
  const database = await freshDatabase();
  const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
  owner.on('error', () => undefined);
  const site = { database, owner, replicas: [], work: newWork() };
  sites.push(site);
  return site;
}

async function endReplicas({ replicas }: Site): Promise<void> {
  for (const { queue, pool } of replicas.splice(0)) {
    await queue.stop(10_000);
    await pool.end();
  }
}

const newWork = (): Work => ({
  started: new Map(),
  ended: new Map(),
  runningNow: new Map(),
  maxConcurrency: new Map(),
  running: 0,
  takesMs: 0,
});

const increment = (counts: Map<string, number>, id: string, by: number) =>
  counts.set(id, (counts.get(id) ?? 0) + by);

const tasksOf = ({ work }: Site): Tasks => ({
  ...NO_TASKS,
  async sendManifestMail({ mailId }) {
    const { started, ended, runningNow, maxConcurrency, takesMs } = work;
    increment(started, mailId, 1);
    work.running += 1;
    increment(runningNow, mailId, 1);
    maxConcurrency.set(mailId, Math.max(maxConcurrency.get(mailId) ?? 0, runningNow.get(mailId) ?? 0));
    await sleep(takesMs);
    increment(runningNow, mailId, -1);
    work.running -= 1;
    increment(ended, mailId, 1);
  },
});

/** Starts a replica's worker with its own connections. */
function startReplica(site: Site): QueueProcess['queue'] {
  const replica = startQueue(site.database.ownerUrl, tasksOf(site));
  site.replicas.push(replica);
  return replica.queue;
}

async function addJobs({ owner }: Site, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await owner.query(
    `select graphile_worker.add_job('sendManifestMail', json_build_object('tenantId', id, 'mailId', id))
     from unnest($1::text[]) as id`,
    [ids],
  );
  return ids;
}

async function count({ owner }: Site, what: string): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(`select count(*)::int as n from ${what}`);
  return rows[0]?.n ?? -1;
}

const countJobs = (site: Site) =>
  count(site, "graphile_worker.jobs where task_identifier = 'sendManifestMail'");
const countLocked = (site: Site) => count(site, 'graphile_worker._private_jobs where locked_by is not null');

/** Blocks the start of graphile-worker, which first reads its migrations table. */
async function blockStarts({ owner }: Site): Promise<() => Promise<void>> {
  const client = await owner.connect();
  await client.query('begin; lock table graphile_worker.migrations');
  return async () => {
    await client.query('rollback');
    client.release();
  };
}

const BLOCKED_START = `pg_locks where not granted and relation = 'graphile_worker.migrations'::regclass
  and database = (select oid from pg_database where datname = current_database())`;

const untilStartBlocked = (site: Site) => until(async () => (await count(site, BLOCKED_START)) > 0);

/** Counts the connections of all runners. */
const countListeners = (site: Site, condition = 'true') =>
  count(
    site,
    `pg_stat_activity where datname = current_database() and application_name = 'crossdock' and query like 'LISTEN%'
     and ${condition}`,
  );

test(
  'a stop during start-up waits for the start, and the runner takes no job',
  () => expectSuccess(waits.get('stopDuringStart')),
  LIMIT_MS,
);

test(
  'a heartbeat that ends during the stop leaves no worker behind',
  async () => {
    await main.owner.query(`
      create function slow_heartbeat() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.5); return new; end $$;
      create trigger slow_heartbeat before insert on queue.worker_pools for each row execute function slow_heartbeat()`);
    try {
      const queue = startReplica(main);
      await until(
        async () =>
          (await count(
            main,
            "pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
          )) > 0,
      );
      expect(await queue.stop(10_000)).toBe(true);
      await until(
        async () =>
          (await count(
            main,
            "pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
          )) === 0,
      );
      expect(await count(main, 'queue.worker_pools')).toBe(0);
    } finally {
      await main.owner.query('drop function slow_heartbeat cascade');
    }
  },
  LIMIT_MS,
);

test(
  'a stop during a restart stops the new runner too',
  () => expectSuccess(waits.get('stopDuringRestart')),
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
    const queue = runQueue({
      pg: pool,
      tasks: tasksOf(main),
      concurrency: 4,
      heartbeatSeconds: HEARTBEAT_S,
      log,
    });
    main.replicas.push({ queue, pool });
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
  () => expectSuccess(waits.get('overdueJob')),
  LIMIT_MS,
);

test(
  `after stops at ${ROUNDS} different moments of start-up and work, no job is lost or executed twice`,
  async () => {
    // Another replica runs all the time and would start a job that is released too early.
    startReplica(main);
    const { work } = main;
    work.takesMs = 15;
    const ids: string[] = [];
    const problems: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const queue = startReplica(main);
      ids.push(...(await addJobs(main, JOBS_PER_ROUND)));
      await sleep((round * 7) % 80);
      const isQuiet = await queue.stop(10_000);
      const { pool } = main.replicas.at(-1) ?? {};
      main.replicas.pop();
      await pool?.end();
      if (!isQuiet) problems.push(['not quiet', round]);
    }
    await until(async () => (await countJobs(main)) === 0);
    expect(problems).toEqual([]);
    expect(
      ids.filter(
        (id) => work.started.get(id) !== 1 || work.ended.get(id) !== 1 || work.maxConcurrency.get(id) !== 1,
      ),
    ).toEqual([]);
    expect([ids.length, work.running]).toEqual([ROUNDS * JOBS_PER_ROUND, 0]);
  },
  LIMIT_MS,
);

async function stopDuringStart(site: Site): Promise<void> {
  const unblock = await blockStarts(site);
  const queue = startReplica(site);
  await untilStartBlocked(site);
  await addJobs(site, 3);
  // It cannot stop yet and returns false.
  expect(await queue.stop(50)).toBe(false);
  await unblock();
  // Long enough for a running worker to fetch a job, and for a restart.
  await sleep(2_500);
  expect(site.work.started.size).toBe(0);
  expect([await countJobs(site), await countLocked(site), await countListeners(site)]).toEqual([3, 0, 0]);
  expect(await queue.stop(10_000)).toBe(true);
  expect(await count(site, 'queue.worker_pools')).toBe(0);
}

async function stopDuringRestart(site: Site): Promise<void> {
  const queue = startReplica(site);
  await addJobs(site, 1);
  await until(async () => (await countJobs(site)) === 0);
  // It may run jobs before it listens.
  await until(async () => (await countListeners(site, "state = 'idle'")) === 1);
  const unblock = await blockStarts(site);
  // A replica of a newer build has changed graphile-worker's tables: the runner ends by itself and is
  // restarted.
  const exitCode = process.exitCode;
  await site.owner.query(`select pg_notify('worker:migrate', '{"breaking":true,"migrationNumber":99}')`);
  await untilStartBlocked(site);
  process.exitCode = exitCode;
  const ids = await addJobs(site, 3);
  expect(await queue.stop(50)).toBe(false);
  await unblock();
  // Long enough for a running worker to fetch a job, and for a restart.
  await sleep(2_500);
  expect(ids.filter((id) => site.work.started.has(id))).toEqual([]);
  expect([await countJobs(site), await countLocked(site), await countListeners(site)]).toEqual([3, 0, 0]);
  expect(await queue.stop(10_000)).toBe(true);
}

async function overdueJob(site: Site): Promise<void> {
  const { work } = site;
  // longer than three missed heartbeats
  work.takesMs = 5_000;
  const [id = ''] = await addJobs(site, 1);
  const queue = startReplica(site);
  await until(async () => work.started.has(id));
  startReplica(site);
  expect(await queue.stop(100)).toBe(false);
  expect(await countLocked(site)).toBe(1);
  await until(async () => work.ended.has(id), 20_000);
  expect(await queue.stop(10_000)).toBe(true);
  await until(async () => (await countJobs(site)) === 0);
  expect([work.started.get(id), work.ended.get(id), work.maxConcurrency.get(id)]).toEqual([1, 1, 1]);
}

test(
  'a run of a repeating task removes its given-up jobs, and those of other kinds stay',
  async () => {
    await main.owner.query(
      `select graphile_worker.add_job(kind, '{}', max_attempts => 1)
       from unnest(array['sweep', 'sweep', 'sealAuditLog', 'deliver']) as kind`,
    );
    await main.owner.query("update graphile_worker._private_jobs set attempts = 1, last_error = 'read-only'");
    expect(await count(main, GIVEN_UP)).toBe(4);
    startReplica(main);
    await main.owner.query("select graphile_worker.add_job('sweep', '{}')");
    await until(async () => (await count(main, `${GIVEN_UP} and task_identifier = 'sweep'`)) === 0);
    expect(await count(main, `${GIVEN_UP} and task_identifier = 'deliver'`)).toBe(1);
    await main.owner.query("select graphile_worker.add_job('sealAuditLog', '{}')");
    await until(async () => (await count(main, `${GIVEN_UP} and task_identifier = 'sealAuditLog'`)) === 0);
    expect(await count(main, GIVEN_UP)).toBe(1);
  },
  LIMIT_MS,
);

const GIVEN_UP = 'graphile_worker.jobs where attempts >= max_attempts and locked_at is null';
