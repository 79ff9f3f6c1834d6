import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { readConfig } from '../../../src/config/config.js';
import { checkConnections } from '../../../src/startup/doctor/checks/connections.js';
import { PGBOUNCER, startPooler } from '../../support/harness/pgbouncer.js';
import { KEYS } from '../../support/rehearsal/installation.js';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import { endProcesses, removeFolders, run } from '../../support/service/processes.js';
import { roleStatements } from '../../support/staging/role-statements.js';

// What the doctor sees with the documented login: connections of other roles, and a server that stops behind a pooler.

const LIMIT_MS = 120_000;
const LOGIN = { user: 'crossdock_login', password: 'login' };

let server: OwnServer;
let url: string;

beforeAll(async () => {
  server = await startOwnServer();
  for (const statement of roleStatements()) await server.query(statement);
  url = server.urlOf('crossdock', LOGIN);
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

const settings = () => ({
  ...KEYS,
  APP_ENV: 'production',
  DEPLOYMENT: 'away',
  TRUST_PROXY: '127.0.0.1',
  DATABASE_URL: url,
});

/** How many connections PostgreSQL grants, as the doctor states it. */
const granted = () =>
  withClient(url, async (client) => {
    const subject = { client, config: readConfig(settings()), servers: 1, workers: 0 };
    const [finding] = await checkConnections(subject);
    return Number(/PostgreSQL grants (\d+)/.exec(finding?.message ?? '')?.[1]);
  });

test(
  'connections of other roles to other databases count, although the login sees little of them',
  async () => {
    const before = await granted();
    const others = [1, 2, 3].map(() => new pg.Client({ connectionString: server.urlOf('postgres') }));
    await Promise.all(others.map((client) => client.connect()));
    const meanwhile = await granted();
    await Promise.all(others.map((client) => client.end()));
    expect([before, meanwhile]).toEqual([expect.any(Number), before - others.length]);
  },
  LIMIT_MS,
);

(PGBOUNCER ? test : test.skip)(
  `behind a pooler whose server has stopped, the doctor does not speak of the disk${PGBOUNCER ? '' : ' (skipped: pgbouncer is not installed)'}`,
  async () => {
    const pooler = await startPooler([url]);
    const pooled = pooler.through(url);
    try {
      // pgbouncer accepts clients afterwards, because it knows the server's parameters.
      await withClient(pooled, (client) => client.query('select 1'));
      await server.shutDown();
      const env = {
        ...settings(),
        DATABASE_URL: pooled,
        DATABASE_POOLER: 'transaction',
        DATABASE_DIRECT_URL: url,
      };
      const doctor = run('scripts/doctor.js', env);
      expect(await doctor.ended).toMatchObject({ code: 1 });
      expect(doctor.output()).toMatch(/^problem +(storage|database) /m);
      expect(doctor.output()).not.toMatch(/Free space|stores nothing/);
    } finally {
      await pooler.stop();
      await server.restart();
    }
  },
  LIMIT_MS,
);
