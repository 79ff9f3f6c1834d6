// Runs once per test run. Starts a PostgreSQL server with two template databases, which the test files clone.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import bcrypt from 'bcrypt';
import pg from 'pg';
import { readConfig } from '../../../dist/src/config/config.js';
import { openSecrets } from '../../../dist/src/platform/access/secrets.js';
import { analyzeNonEmptyTables } from '../../../dist/src/platform/db/migrations/analyze.js';
import { startEmbeddedPostgres } from '../../../dist/src/development/embedded-postgres/embedded-server.js';
import { migrate } from '../../../dist/src/platform/db/migrations/migrate.js';
import { DEMO, seedDemo } from '../../../dist/fixtures/demo/seed.js';
import { projectRoot } from '../../../dist/src/config/project-root.js';
import { chooseFolder, openFolders } from '../jest/server-folders.mjs';
import { keepCluster, keyOfTemplates, restoreCluster } from '../jest/kept-cluster.mjs';

export default async function globalSetup() {
  const config = readConfig({ APP_ENV: 'development', ...process.env });
  const observations = join(projectRoot, 'coverage', 'contract');
  // A repetition adds to what the run has observed.
  if (process.env.TEST_REPEATED !== '1') rmSync(observations, { recursive: true, force: true });
  mkdirSync(observations, { recursive: true });
  // `npm run mutants` provides a server and templates for many runs.
  if (process.env.TEST_DATABASE_PREFIX) return;

  if (config.databaseUrl) {
    // Several runs may share the server that DATABASE_URL names, so the names of the databases differ.
    useServer(config.databaseOwnerUrl, `${PREFIX}${process.pid}_`);
    const { TEST_ADMIN_URL: adminUrl, TEST_DATABASE_PREFIX: prefix } = process.env;
    await makeTemplates(adminUrl, prefix, config);
    globalThis.__endTestServer = () => dropDatabases(adminUrl, (name) => name.startsWith(prefix));
    return;
  }
  const server = await startServerWithTemplates(config);
  useServer(server.url, KEPT_PREFIX);
  globalThis.__endTestServer = () => removeServer(server);
}

const PREFIX = 'crossdock_test_';
const KEPT_PREFIX = `${PREFIX}kept_`;

function useServer(adminUrl, prefix) {
  process.env.TEST_ADMIN_URL = adminUrl;
  process.env.TEST_DATABASE_PREFIX = prefix;
}

/** Starts a server on a copy of the cached cluster. Creates the cached cluster if there is none. */
async function startServerWithTemplates(config) {
  const key = keyOfTemplates(config);
  const dataDir = await openServerFolder();
  if (await restoreCluster(key, dataDir)) return startServer(dataDir);
  const server = await startServer(dataDir);
  await makeTemplates(server.url, KEPT_PREFIX, config);
  await makeConnectingCheap(server);
  await server.stop();
  await keepCluster(key, server);
  return startServer(dataDir);
}

/**
 * Logins send the password itself, which costs a client half as much as SCRAM, and it is stored with one iteration. PostgreSQL's
 * default of 4,096 costs milliseconds per connection. Servers that one test starts for itself use SCRAM.
 */
async function makeConnectingCheap({ url, dataDir }) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('set scram_iterations = 1');
  const { username, password } = new URL(url);
  await client.query(`alter role ${username} password ${client.escapeLiteral(decodeURIComponent(password))}`);
  await client.end();
  const rules = join(dataDir, 'pg_hba.conf');
  writeFileSync(rules, readFileSync(rules, 'utf8').replaceAll('scram-sha-256', 'password'));
}

/** Starts a server for this run only, so that the end of one run does not stop the server of another. */
export async function startOwnServer() {
  return startServer(await openServerFolder());
}

/** Returns the folder for this run's server, after it has removed servers that dead runs left behind. */
async function openServerFolder() {
  for (const folder of openFolders()) {
    for (const pid of readdirSync(folder).filter((name) => !isAlive(Number(name)))) {
      await removeLeftServer(join(folder, pid));
    }
  }
  return join(chooseFolder(), String(process.pid));
}

async function removeLeftServer(folder) {
  let server;
  try {
    // The server may still run. Starting it again adopts it, so that it can be stopped.
    server = await startServer(folder);
  } catch {
    // Its removal was interrupted, so its data are incomplete.
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  await removeServer(server);
}

export async function removeServer(server) {
  await server.stop();
  // If root runs the tests, the data may be in another folder (decision 0003).
  for (const folder of [dirname(server.dataDir), server.folder])
    rmSync(folder, { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
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
  // Those of templates with the roles of the documents, which nobody drops with a test.
  const { rows: owners } = await admin.query(
    "select rolname from pg_roles where rolname like 'crossdock\\_test\\_%\\_owner' and not rolcanlogin",
  );
  for (const { rolname } of owners) if (isDoomed(rolname)) await admin.query(`drop role "${rolname}"`);
  await admin.end();
}

async function startServer(folder) {
  const server = await startEmbeddedPostgres({
    dataDir: folder,
    database: 'postgres',
    log: () => {},
    // The data is deleted after the run, so durability is not needed.
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      jit: 'off',
      io_method: 'sync',
      // The kernel copies the files of a clone.
      file_copy_method: 'clone',
      update_process_title: 'off',
      max_connections: '400',
    },
  });
  return { ...server, folder };
}

export async function makeTemplates(adminUrl, prefix, config) {
  const admin = new pg.Client({ connectionString: adminUrl });
  const [empty, demo] = ['empty', 'demo'].map((name) => prefix + name);
  await admin.connect();
  try {
    await admin.query(`create database "${empty}"`);
    await migrate(urlOf(adminUrl, empty), join(projectRoot, 'prisma', 'migrations'));
    await admin.query(`create database "${demo}" template "${empty}"`);
    const client = new pg.Client({ connectionString: urlOf(adminUrl, demo) });
    await client.connect();
    await seedDemo(client, openSecrets(config.secrets), new Date());
    // A hash at the service's cost takes 0.2 s of CPU per login. Tests that measure this time create one.
    await client.query('update users set password_hash = $1', [await bcrypt.hash(DEMO.password, 4)]);
    await analyzeNonEmptyTables(client);
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
