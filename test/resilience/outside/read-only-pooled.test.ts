import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { ask, listOf, logIn, prealertOf } from '../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { PGBOUNCER, startPooler, type Pooler } from '../../support/harness/pgbouncer.js';
import {
  endProcesses,
  removeFolders,
  startReplica,
  statusOf,
  until,
  type Replica,
} from '../../support/service/processes.js';

// default_transaction_read_only behind a pooler, whose server connections keep the setting with which they began.

const LIMIT_MS = 120_000;
const SERVER_CONNECTIONS = 8;
const LOGIN = `crossdock_read_only_${randomBytes(4).toString('hex')}`;

let database: TestDatabase;
let owner: pg.Client;
let pooler: Pooler;
let service: Replica;
let pooled: string;
let token: string;

const withPgbouncer = PGBOUNCER ? describe : describe.skip;
const reason = PGBOUNCER ? '' : ' (skipped: pgbouncer is not installed)';

/** Sends reads and writes at once, so that they need all server connections. Returns how many got each status. */
async function send({ reads = 0, writes = 0 }): Promise<Record<string, number>> {
  const numbers = Array.from({ length: writes }, () => `RO-${randomBytes(6).toString('hex')}`);
  const questions = [
    ...Array.from({ length: reads }, () => listOf(token, 'RO-1')),
    ...numbers.map((number) => prealertOf(number)),
  ];
  const counts: Record<string, number> = {};
  for (const { status } of await Promise.all(questions.map((question) => ask(service.url, question))))
    counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Sets the default, and replaces all server connections by some that begin with it. */
async function setReadOnly(subject: string): Promise<void> {
  await owner.query(`alter ${subject} set default_transaction_read_only = on`);
  await owner.query(
    'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and usename = $1',
    [LOGIN],
  );
  await until(async () => (await send({ writes: 5 }))[503] === 5);
  const clients = Array.from(
    { length: SERVER_CONNECTIONS },
    () => new pg.Client({ connectionString: pooled }),
  );
  // Open transactions at once, each of which needs a server connection of its own.
  await Promise.all(clients.map((client) => client.connect()));
  await Promise.all(clients.map((client) => client.query('begin')));
  await Promise.all(clients.map((client) => client.query('commit')));
  await Promise.all(clients.map((client) => client.end()));
}

withPgbouncer(`behind pgbouncer in transaction mode${reason}`, () => {
  beforeAll(async () => {
    database = await demoDatabase();
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    const password = randomBytes(12).toString('hex');
    await owner.query(`create role ${LOGIN} login password '${password}' in role crossdock_app`);
    const direct = Object.assign(new URL(database.ownerUrl), { username: LOGIN, password }).href;
    pooler = await startPooler([direct], { size: SERVER_CONNECTIONS });
    pooled = pooler.through(direct);
    service = await startReplica({
      DATABASE_URL: pooled,
      DATABASE_POOLER: 'transaction',
      RUN_WORKER: 'false',
      POOL_SIZE: '20',
    });
    token = await logIn(service.url);
  }, LIMIT_MS);

  afterAll(async () => {
    await endProcesses();
    await pooler.stop();
    await owner.query(`drop role ${LOGIN}`);
    await owner.end();
    await database.drop();
    await removeFolders();
  }, LIMIT_MS);

  const nameOfDatabase = () => new URL(database.ownerUrl).pathname.slice(1);
  const SETTINGS: [string, () => string][] = [
    ['the database', () => `database "${nameOfDatabase()}"`],
    ['the login', () => `role ${LOGIN}`],
  ];

  test.each(SETTINGS)(
    'after the setting of %s is reset, each stale session of the pooler fails at most one request, and then everything succeeds',
    async (_what, subject) => {
      expect(await send({ writes: 10 })).toEqual({ 201: 10 });
      await setReadOnly(subject());
      await until(async () => (await statusOf(`${service.url}/ready`)) === 503);

      await owner.query(`alter ${subject()} reset default_transaction_read_only`);
      await until(async () => (await statusOf(`${service.url}/ready`)) === 200);
      let failed = 0;
      for (let n = 0; n < 6; n += 1) failed += (await send({ reads: 20, writes: 10 }))[503] ?? 0;
      expect(failed).toBeLessThanOrEqual(SERVER_CONNECTIONS);
      // Nothing was restarted, and no session is left that refuses writes.
      for (let n = 0; n < 6; n += 1)
        expect(await send({ reads: 20, writes: 10 })).toEqual({ 200: 20, 201: 10 });
      expect(await statusOf(`${service.url}/ready`)).toBe(200);
    },
    LIMIT_MS,
  );

  test(
    'while the setting is still there, no session is ended: reads succeed',
    async () => {
      await setReadOnly(`role ${LOGIN}`);
      try {
        for (let n = 0; n < 3; n += 1) expect(await send({ reads: 20 })).toEqual({ 200: 20 });
        expect(await send({ writes: 10 })).toEqual({ 503: 10 });
      } finally {
        await owner.query(`alter role ${LOGIN} reset default_transaction_read_only`);
      }
    },
    LIMIT_MS,
  );
});
