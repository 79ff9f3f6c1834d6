import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { readConfig } from '../../../src/config/config.js';
import { checkStorage } from '../../../src/startup/doctor/storage.js';
import { checkConnections } from '../../../src/startup/doctor/checks/connections.js';
import { KEYS } from '../../support/rehearsal/installation.js';
import { PGBOUNCER, startPooler } from '../../support/harness/pgbouncer.js';
import { LOCAL } from '../../../src/startup/doctor/checks.js';
import { findingsFor } from './installation.js';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import { removeFolders } from '../../support/service/processes.js';
import { roleStatements } from '../../support/staging/role-statements.js';

// What the doctor sees with the documented login: connections of other roles, and a server that stops.

const LIMIT_MS = 120_000;
const LOGIN = { user: 'crossdock_login', password: 'login-password' };

/** Those that need no database. */
const LOCAL_CHECKS = new Set(LOCAL.map(({ name }) => name));

let server: OwnServer;
let url: string;

beforeAll(async () => {
  server = await startOwnServer();
  for (const statement of roleStatements()) await server.query(statement);
  url = server.urlOf('crossdock', LOGIN);
}, LIMIT_MS);

afterAll(async () => {
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

test(
  'while the server is away, the check of the storage does not speak of the disk',
  async () => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      await server.shutDown();
      const found = await checkStorage({ client });
      expect(found).toEqual([
        {
          level: 'problem',
          message: expect.stringMatching(/^Whether the database stores data could not be examined: /),
          remedy: 'Correct the other problems first, and repeat.',
        },
      ]);
    } finally {
      await client.end().catch(() => undefined);
      await server.restart();
    }
  },
  LIMIT_MS,
);

const withPgbouncer = PGBOUNCER ? test : test.skip;

withPgbouncer(
  `a server that is away behind a pooler is one problem${PGBOUNCER ? '' : ' (skipped: pgbouncer is not installed)'}`,
  async () => {
    const pooler = await startPooler([url]);
    const pooled = pooler.through(url);
    try {
      // The pooler knows the server from now on, and admits clients without it.
      await withClient(pooled, (client) => client.query('select'));
      await server.shutDown();
      const found = await findingsFor({
        ...settings(),
        DATABASE_URL: pooled,
        DATABASE_POOLER: 'transaction',
      });
      const database = found.filter(({ check, level }) => level !== 'ok' && !LOCAL_CHECKS.has(check));
      expect(database).toEqual([
        expect.objectContaining({ check: 'database', message: expect.stringMatching(/^DATABASE_URL: /) }),
      ]);
    } finally {
      await server.restart();
      await pooler.stop();
    }
  },
  LIMIT_MS,
);
