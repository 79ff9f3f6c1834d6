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
  await makeTemplates(adminUrl, config);
  process.env.TEST_ADMIN_URL = adminUrl;
  globalThis.__testServer = server;
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
  await admin.connect();
  try {
    await dropLeftovers(admin);
    await admin.query('create database crossdock_test_empty');
    await migrate(urlOf(adminUrl, 'crossdock_test_empty'), join(projectRoot, 'prisma', 'migrations'));
    await admin.query('create database crossdock_test_demo template crossdock_test_empty');
    const client = new pg.Client({ connectionString: urlOf(adminUrl, 'crossdock_test_demo') });
    await client.connect();
    await seedDemo(client, openSecrets(config.secrets), new Date());
    await client.end();
  } finally {
    await admin.end();
  }
}

async function dropLeftovers(admin) {
  const { rows } = await admin.query(
    "select datname from pg_database where datname like 'crossdock\\_test\\_%'",
  );
  for (const { datname } of rows) await admin.query(`drop database "${datname}" with (force)`);
}

function urlOf(adminUrl, database) {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
