// Once for the whole run: a PostgreSQL server, and two databases that every test file clones its own from.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { readConfig } from '../../dist/src/config.js';
import { openSecrets } from '../../dist/src/auth/secrets.js';
import { startEmbeddedPostgres } from '../../dist/src/db/embedded.js';
import { migrate } from '../../dist/src/db/migrate.js';
import { seedDemo } from '../../dist/src/demo/seed.js';
import { projectRoot } from '../../dist/src/root.js';

export default async function globalSetup() {
  const config = readConfig();
  const observations = join(projectRoot, 'coverage', 'contract');
  rmSync(observations, { recursive: true, force: true });
  mkdirSync(observations, { recursive: true });

  const server = config.databaseUrl ? undefined : await startServer();
  const adminUrl = config.databaseOwnerUrl ?? server.url;
  if (server) await dropDatabases(adminUrl, isOfDeadRun);
  // two runs may share a server: each has its own names
  process.env.TEST_DATABASE_PREFIX = `${PREFIX}${process.pid}_`;
  process.env.TEST_ADMIN_URL = adminUrl;
  await makeTemplates(adminUrl, config);
  globalThis.__testServer = server;
}

const PREFIX = 'crossdock_test_';

function isOfDeadRun(name) {
  const [pid] = name.slice(PREFIX.length).split('_');
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch {
    return true;
  }
}

export async function dropDatabases(adminUrl, isDoomed) {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  const { rows } = await admin.query(
    "select datname from pg_database where datname like 'crossdock\\_test\\_%'",
  );
  for (const { datname } of rows) {
    if (isDoomed(datname)) await admin.query(`drop database if exists "${datname}" with (force)`);
  }
  await admin.end();
}

function startServer() {
  return startEmbeddedPostgres({
    dataDir: join(projectRoot, '.data', 'test'),
    database: 'postgres',
    log: () => {},
    // nothing here outlives the run
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' },
  });
}

async function makeTemplates(adminUrl, config) {
  const admin = new pg.Client({ connectionString: adminUrl });
  const [empty, demo] = ['empty', 'demo'].map((name) => process.env.TEST_DATABASE_PREFIX + name);
  await admin.connect();
  try {
    await admin.query(`create database "${empty}"`);
    await migrate(urlOf(adminUrl, empty), join(projectRoot, 'prisma', 'migrations'));
    await admin.query(`create database "${demo}" template "${empty}"`);
    const client = new pg.Client({ connectionString: urlOf(adminUrl, demo) });
    await client.connect();
    await seedDemo(client, openSecrets(config.secrets), new Date());
    await client.end();
  } finally {
    await admin.end();
  }
}

function urlOf(adminUrl, database) {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
