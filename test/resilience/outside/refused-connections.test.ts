import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { failingWithoutCodes } from '../../../src/platform/queue/library-pool.js';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import { removeFolders, until } from '../../support/service/processes.js';
import { startQueue, type QueueProcess } from '../../support/workers/start-queue.js';

// A server that takes no connections, as while it recovers or stops: 57P03. Sent by PostgreSQL in its smart shutdown.

const LIMIT_MS = 120_000;
const CLOSED_MS = 10_000;

let server: OwnServer;
let pool: pg.Pool;
/** The connection for which the server still runs. */
let last: pg.Client;
let worker: QueueProcess;
const done: string[] = [];

beforeAll(async () => {
  server = await startOwnServer();
  await server.query('create database crossdock');
  const url = server.urlOf('crossdock');
  await migrate(url, MIGRATIONS);
  last = new pg.Client({ connectionString: url });
  await last.connect();
  worker = startQueue(
    url,
    { sendManifestMail: async ({ mailId }) => void done.push(mailId) },
    { assumeRole: 'postgres' },
  );
  pool = worker.pool;
}, LIMIT_MS);

afterAll(async () => {
  await last.end();
  await worker.end();
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

test(
  'the queue tries again each second, and runs jobs as soon as the server takes connections',
  async () => {
    await addJob('before');
    await until(async () => done.length === 1);

    await server.closeDoors();
    await last.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await until(async () => (await codeOfConnecting()) === '57P03');

    // The library would sleep up to three minutes if it saw the code.
    const refused = { message: 'the database system is shutting down' };
    const failure: unknown = await failingWithoutCodes(pool).connect().catch(String);
    expect(failure).toBe(`Error: ${refused.message}`);
    const called = await new Promise((resolve) =>
      failingWithoutCodes(pool).connect((error) => resolve(error)),
    );
    expect(called).toMatchObject(refused);
    expect([called]).not.toMatchObject([{ code: expect.anything() }]);
    const connecting = jest.spyOn(pool, 'connect');
    await sleep(CLOSED_MS);
    // Only a fetch asks for a promise of a connection. One per second: with the code there were three or four.
    const calls: unknown[][] = connecting.mock.calls;
    const fetches = calls.filter((given) => given.length === 0);
    expect(fetches.length).toBeGreaterThan(5);
    await last.end();
    await server.shutDown();
    await server.restart();
    await addJob('after');
    await until(async () => done.includes('after'), 4_000);
    expect(await worker.queue.stop(10_000)).toBe(true);
  },
  LIMIT_MS,
);

/** Returns the code with which the pool fails to connect. */
async function codeOfConnecting(): Promise<unknown> {
  try {
    (await pool.connect()).release(true);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

const addJob = (name: string) =>
  server.query(
    `select graphile_worker.add_job('sendManifestMail', json_build_object('tenantId', '1', 'mailId', '${name}'))`,
    'crossdock',
  );
