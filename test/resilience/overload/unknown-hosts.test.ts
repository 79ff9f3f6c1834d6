import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { openDb } from '../../../src/platform/db/open-database.js';
import { openTenants } from '../../../src/platform/http/tenant-by-host.js';
import { demoDatabase, type TestDatabase } from '../../support/service/database.js';
import { ask, listOf, logIn } from '../../support/service/client.js';
import {
  endProcesses,
  freePort,
  startReplica,
  until,
  type Replica,
} from '../../support/service/processes.js';

// Anybody can send any Host header, before a share or a limit of a tenant applies.

const LIMIT_MS = 60_000;
const HOSTS = 400;
const POOL_SIZE = 5;

let database: TestDatabase;
let owner: pg.Client;
/** A transaction would see the activity of its first look only. */
let watcher: pg.Client;
let server: Replica;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  watcher = new pg.Client({ connectionString: database.ownerUrl });
  await watcher.connect();
  // Otherwise the demo tenant has all hosts.
  await owner.query("delete from tenant_hosts where host = '*'");
  server = await startReplica({
    DATABASE_URL: database.ownerUrl,
    POOL_SIZE: String(POOL_SIZE),
    // Each process has a cache of its own.
    API_PROCESSES: '1',
    RUN_WORKER: 'false',
    LOG_LEVEL: 'error',
  });
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await owner.end();
  await watcher.end();
  await database.drop();
}, LIMIT_MS);

const askAt = (host: string) => ask(server.url, { path: '/api/ManageCarriers.php', headers: { host } });

const hosts = (label: string) => Array.from({ length: HOSTS }, (_, n) => `${label}-${n}.example`);

/** Returns how many connections of the service look up hosts at the moment. */
async function countLookups(): Promise<number> {
  const { rows } = await watcher.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%tenant_of_host%'`,
  );
  return rows[0]?.count ?? 0;
}

test(
  `while ${HOSTS} unknown hosts wait for a slow lookup, they use one connection, and a tenant is served`,
  async () => {
    const { hostname } = new URL(server.url);
    await owner.query(
      `insert into tenant_hosts (host, tenant_id) select host, $1 from unnest($2::text[]) as host on conflict do nothing`,
      [DEMO.tenants.demo, [hostname, 'tenant.example']],
    );
    await until(async () => (await askAt(hostname)).status === 401);
    const list = listOf(await logIn(server.url));
    // From here its host is in the cache, for ten seconds.
    await until(async () => (await askAt('tenant.example')).status === 401);
    await owner.query('begin');
    await owner.query('lock table tenant_hosts in access exclusive mode');
    const strangers = hosts('slow').map(askAt);
    try {
      await until(async () => (await countLookups()) > 0);
      const { status } = await ask(server.url, {
        ...list,
        headers: { ...list.headers, host: 'tenant.example' },
      });
      expect(status).toBe(200);
      // It was served while the lookup waited.
      expect(await countLookups()).toBe(1);
    } finally {
      await owner.query('rollback');
    }
    expect(new Set((await Promise.all(strangers)).map(({ status }) => status))).toEqual(new Set([404]));
  },
  LIMIT_MS,
);

test(
  'unknown hosts do not evict those of tenants from the cache, so that these need no lookup',
  async () => {
    const db = openDb({
      url: database.ownerUrl,
      size: 2,
      assumeRole: 'crossdock_app',
      onError: () => undefined,
    });
    let queries = 0;
    db.pool.on('acquire', () => (queries += 1));
    try {
      const tenants = openTenants(db);
      expect(await tenants.ofHost(DEMO.hosts.two)).toMatchObject({ tenantId: DEMO.tenants.two });
      for (const label of ['a', 'b', 'c'])
        await Promise.allSettled(hosts(label).map((host) => tenants.ofHost(host)));
      const before = queries;
      // One for each group at most, and one for the first host of each, which did not wait.
      expect(before).toBeLessThanOrEqual(7);
      await tenants.ofHost(DEMO.hosts.two);
      expect(queries).toBe(before);
      await expect(tenants.ofHost(hosts('c').at(-1))).rejects.toMatchObject({ code: 'unknown_host' });
      expect(queries).toBe(before);
    } finally {
      await db.close();
    }
  },
  LIMIT_MS,
);

test(
  'no more requests wait for lookups than the bound',
  async () => {
    const db = openDb({
      url: database.ownerUrl,
      size: 2,
      assumeRole: 'crossdock_app',
      onError: () => undefined,
    });
    try {
      const tenants = openTenants(db);
      const answers = await Promise.allSettled(
        Array.from({ length: 1_500 }, (_, n) => tenants.ofHost(`many-${n}.example`)),
      );
      const codes = answers.map((answer) => (answer.status === 'rejected' ? String(answer.reason.code) : ''));
      expect(codes.filter((code) => code === 'unknown_host')).toHaveLength(1_000);
      expect(codes.filter((code) => code === 'overloaded')).toHaveLength(500);
    } finally {
      await db.close();
    }
  },
  LIMIT_MS,
);

test(
  `${HOSTS} hosts that cannot be looked up cost few lines of the log, and few connections`,
  async () => {
    await owner.query('revoke execute on function tenant_of_host(text) from crossdock_app');
    const before = server.output().length;
    const answers = await Promise.all(hosts('failing').map(askAt));
    await owner.query('grant execute on function tenant_of_host(text) to crossdock_app');
    expect(answers.filter(({ status }) => status < 500)).toEqual([]);
    const errors = server
      .output()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('"stack"'));
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThanOrEqual(20);
    await until(async () => (await askAt('failing-0.example')).status === 404);
  },
  LIMIT_MS,
);

test('a database that cannot be reached gives all that wait the same error', async () => {
  const url = `postgres://nobody@127.0.0.1:${await freePort()}/nothing`;
  const db = openDb({ url, size: 5, onError: () => undefined });
  try {
    const tenants = openTenants(db);
    const answers = await Promise.allSettled(hosts('away').map((host) => tenants.ofHost(host)));
    const reasons = answers.map((answer) =>
      answer.status === 'rejected' ? (answer.reason as unknown) : undefined,
    );
    expect(new Set(reasons).size).toBe(1);
    expect(reasons[0]).toMatchObject({ code: 'ECONNREFUSED' });
  } finally {
    await db.close();
  }
});
