import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import { endProcesses, freePort, removeFolders, run, until } from '../../support/service/processes.js';

// Starts while PostgreSQL has no free connection, or one (SQLSTATE 53300), and a worker that loses its connections.

const LIMIT_MS = 90_000;
/** The reserved ones are for the owner and for the statements of the test. */
const FEW = { max_connections: '40', superuser_reserved_connections: '12' };
const LOGIN = { user: 'used_up_login', password: 'a password' };
const HOLDER = 'holds connections';

let server: OwnServer;
const held: pg.Client[] = [];

beforeAll(async () => {
  server = await startOwnServer(undefined, FEW);
  await server.query('create database used_up');
  await run('src/commands/migrate.js', { DATABASE_OWNER_URL: server.urlOf('used_up') }).ended;
  await server.query(`create role ${LOGIN.user} login password '${LOGIN.password}' in role crossdock_app`);
}, LIMIT_MS);

afterEach(async () => {
  await release();
  await endProcesses();
}, LIMIT_MS);

afterAll(async () => {
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

/** Opens connections with the login of the service until PostgreSQL refuses one. */
async function holdAll(): Promise<void> {
  for (;;) {
    const client = new pg.Client({
      connectionString: server.urlOf('used_up', LOGIN),
      application_name: HOLDER,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      held.push(client);
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === '53300') return;
      throw error;
    }
  }
}

/** Closes connections, all by default, and waits until PostgreSQL has their places. */
async function release(count = held.length): Promise<void> {
  await Promise.all(held.splice(0, count).map((client) => client.end()));
  await until(async () => {
    const [row] = await server.query(
      `select count(*)::int as left from pg_stat_activity where datname = 'used_up' and application_name = '${HOLDER}'`,
    );
    return Number(row?.['left']) <= held.length;
  });
}

const start = (file: string, env: Record<string, string> = {}) =>
  run(file, {
    DATABASE_URL: server.urlOf('used_up', LOGIN),
    DATABASE_OWNER_URL: server.urlOf('used_up'),
    MIGRATE_AT_START: 'false',
    RUN_WORKER: 'false',
    ...env,
  });

const startAll = async () => [
  start('src/worker.js'),
  start('src/main.js', { PORT: String(await freePort()) }),
  start('src/main.js', { PORT: String(await freePort()), API_PROCESSES: '2' }),
];

const TRIES =
  /^DATABASE_URL: .*(too many clients|connection slots are reserved).* Trying again for \d+ seconds\.$/m;
const WORKS = /The Crossdock worker is running|Server listening at/;

// One free connection is enough for the first steps of a start, and not for a later one.
test.each([0, 1])(
  'worker, server and server of several processes wait while %i connections are free, and start when others are',
  async (free) => {
    await holdAll();
    if (free > 0) await release(free);
    const beganMs = performance.now();
    const processes = await startAll();
    await until(async () => performance.now() - beganMs > 5_000);
    const ended = processes.filter(({ child }) => child.exitCode !== null);
    expect(ended.map(({ output }) => output())).toEqual([]);
    await release();
    await until(async () =>
      processes.every(({ child, output }) => child.exitCode !== null || WORKS.test(output())),
    );
    const outputs = processes.map(({ output }) => output());
    expect(outputs).toEqual(outputs.map(() => expect.stringMatching(TRIES)));
    expect(outputs).toEqual(outputs.map(() => expect.stringMatching(WORKS)));
  },
  LIMIT_MS,
);

test(
  'the steps of a start together wait for 20 seconds, and the start ends with one line',
  async () => {
    await holdAll();
    await server.query('alter database used_up set default_transaction_read_only = on');
    const beganMs = performance.now();
    const worker = start('src/worker.js');
    await until(async () => performance.now() - beganMs > 10_000);
    // Now a later step fails.
    await release();
    expect(await worker.ended).toMatchObject({ code: 1 });
    const tookMs = performance.now() - beganMs;
    expect(worker.output()).toMatch(TRIES);
    expect(worker.output()).toMatch(
      /\nDATABASE_URL: The database accepts no writes[^\n]* Trying again for \d{1,2} seconds\.\nDATABASE_URL: The database accepts no writes[^\n]+\n$/,
    );
    expect([tookMs > 20_000, tookMs < 28_000]).toEqual([true, true]);
    await server.query('alter database used_up reset default_transaction_read_only');
  },
  LIMIT_MS,
);

test(
  'a worker that has lost its last connection goes on when PostgreSQL is back',
  async () => {
    const worker = start('src/worker.js', { WORKER_HEARTBEAT_SECONDS: '1' });
    const pools = () => server.query('select id from queue.worker_pools', 'used_up');
    await until(async () => worker.child.exitCode !== null || (await pools()).length > 0);
    // A pause makes the worker end its runner and start another after a second. In between, nothing of the library keeps the process alive.
    await server.query(
      "update installation.outbound set paused_at = now(), paused_because = 'a test'",
      'used_up',
    );
    await until(async () => worker.child.exitCode !== null || (await pools()).length === 0);
    await server.shutDown();
    // It tries once per second, and the log has the first failure.
    await until(
      async () =>
        worker.child.exitCode !== null ||
        /The queue stopped|The heartbeat failed|notify listener/.test(worker.output()),
    );
    await sleep(3_000);
    expect(worker.child.exitCode).toBeNull();
    await server.restart();
    await until(async () => (await pools()).length > 0);
  },
  LIMIT_MS,
);
