import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { SystemCaller } from '../../src/platform/identity/callers.js';
import { openSecrets } from '../../src/platform/access/secrets.js';
import { developmentConfig } from '../support/staging/development.js';
import { openDb } from '../../src/platform/db/open-database.js';
import { prepareDatabase } from '../../src/startup/prepare-database.js';
import { makeContext, type SystemContext } from '../../src/platform/context/request-context.js';
import type { Db } from '../../src/platform/db/database.js';
import { once, sql, type Sql } from '../../src/platform/db/statements.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { ask, listOf, logIn, prealertOf, type Answer } from '../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';
import { rounds } from '../support/harness/effort.js';
import { PGBOUNCER, startPooler, type Pooler } from '../support/harness/pgbouncer.js';
import {
  endProcesses,
  removeFolders,
  run,
  startReplica,
  until,
  type Replica,
} from '../support/service/processes.js';
import { startReceiver, type Receiver } from '../support/receivers/receiver.js';
import { setEndpoints } from '../support/receivers/webhooks.js';

const LIMIT_MS = 120_000;
const LOGIN = `crossdock_pooled_${randomBytes(4).toString('hex')}`;
const TENANTS = 50;
const WORKERS = 32;
const ROUNDS = rounds(4, 8);

let database: TestDatabase;
let owner: pg.Pool;
let pooler: Pooler;
/** The URLs of the service's own login, direct and through the pooler. */
let direct: string;
let pooled: string;

const withPgbouncer = PGBOUNCER ? describe : describe.skip;
const reason = PGBOUNCER ? '' : ' (skipped: pgbouncer is not installed)';

withPgbouncer(`behind pgbouncer in transaction mode${reason}`, () => {
  beforeAll(async () => {
    database = await demoDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
    owner.on('error', () => undefined);
    const password = randomBytes(12).toString('hex');
    await owner.query(`create role ${LOGIN} login password '${password}' in role crossdock_app`);
    // A time zone other than UTC reveals settings that the service does not set itself.
    await owner.query(`alter role ${LOGIN} set timezone = 'America/Jamaica'`);
    await owner.query(`alter role ${LOGIN} set jit = on`);
    direct = Object.assign(new URL(database.ownerUrl), { username: LOGIN, password }).href;
    pooler = await startPooler([direct, database.ownerUrl]);
    pooled = pooler.through(direct);
  }, LIMIT_MS);

  afterAll(async () => {
    await endProcesses();
    await pooler.stop();
    await owner.end();
    await database.drop();
    const admin = new pg.Client({ connectionString: process.env['TEST_ADMIN_URL'] });
    await admin.connect();
    await admin.query(`drop role ${LOGIN}`);
    await admin.end();
    await removeFolders();
  }, LIMIT_MS);

  describe('the service', () => {
    let service: Replica;
    let receiver: Receiver;
    let token: string;

    beforeAll(async () => {
      receiver = await startReceiver();
      const secrets = openSecrets(developmentConfig({}).secrets);
      const urls = { add: `${receiver.url}/add`, update: `${receiver.url}/update` };
      await setEndpoints({ owner, secrets }, urls);
      service = await startReplica({
        DATABASE_URL: pooled,
        DATABASE_POOLER: 'transaction',
        DATABASE_DIRECT_URL: direct,
        OUTBOUND_ALLOW_LOOPBACK: 'true',
        POOL_SIZE: '20',
      });
      token = await logIn(service.url);
    }, LIMIT_MS);

    afterAll(async () => {
      expect((await service.stop()).code).toBe(0);
      await receiver.stop();
    });

    async function post(path: string, body: object): Promise<Record<string, unknown>> {
      const headers = { authorization: `Bearer ${token}` };
      const reply = await ask(service.url, { method: 'POST', path: `/api/${path}.php`, headers, body });
      if (reply.status >= 300) throw new Error(`${path} returned ${reply.status}: ${reply.text}`);
      return JSON.parse(reply.text).data;
    }

    test(
      'announces, receives, lists and ships a parcel, and its worker delivers the webhooks',
      async () => {
        expect((await ask(service.url, prealertOf('POOLED-1'))).status).toBe(201);
        const received = await post('ReceivePackage', { tracking_number: 'POOLED-1', weight: 2.5 });
        expect(received).toMatchObject({ matched_by: 'prealert', courier_id: DEMO.couriers.IEX });
        const listed = JSON.parse((await ask(service.url, listOf(token, 'POOLED-1'))).text);
        expect(listed.data).toMatchObject([{ tracking_number: 'POOLED-1', status: 'received' }]);
        // The session's own time zone would be five hours off.
        expect(Math.abs(Date.now() - Date.parse(listed.data[0].created_at))).toBeLessThan(LIMIT_MS);

        const { manifest_id } = await post('CreateManifest', { awb_number: '106-12345675' });
        const package_ids = [received['package_id']];
        await post('ManageManifest', { action: 'add_packages', manifest_id, package_ids });
        for (const status of ['ready', 'shipped'])
          await post('ManageManifest', { action: 'update_meta', manifest_id, status });

        await until(async () => receiver.at('/add').length === 1 && receiver.at('/update').length >= 1);
        await until(async () => {
          const { rows } = await owner.query(`select count(*)::int as n,
            count(*) filter (where status = 'delivered')::int as delivered from webhook_deliveries`);
          return rows[0]?.n >= 2 && rows[0]?.n === rows[0]?.delivered;
        });
      },
      LIMIT_MS,
    );

    const CALLERS = rounds(60, 200);

    test(
      `stores each of ${CALLERS} parallel pre-alerts, and none gets 500`,
      async () => {
        const submit = async (n: number): Promise<Answer> => {
          const reply = await ask(service.url, prealertOf(`AT-ONCE-${n}`));
          // No connection became free in time and nothing was changed, so the integrator retries.
          const isOverloaded = reply.status === 503 && reply.text.includes('"overloaded"');
          return isOverloaded ? submit(n) : reply;
        };
        const replies = await Promise.all(Array.from({ length: CALLERS }, (_, n) => submit(n)));
        expect(replies.filter(({ status }) => status !== 201)).toEqual([]);
        const { rows } = await owner.query(
          "select count(*)::int as n from prealerts where tracking_number like 'AT-ONCE-%'",
        );
        expect(rows).toEqual([{ n: CALLERS }]);
      },
      LIMIT_MS,
    );

    test('a replica without a worker needs no direct connection', async () => {
      const settings = { DATABASE_POOLER: 'transaction', RUN_WORKER: 'false' };
      const replica = await startReplica({ DATABASE_URL: pooled, ...settings });
      expect((await ask(replica.url, prealertOf('NO-WORKER'))).status).toBe(201);
      expect((await replica.stop()).code).toBe(0);
    });
  });

  describe('a tenant scope', () => {
    const callers: SystemCaller[] = [];
    let db: Db & { close(): Promise<void> };

    beforeAll(async () => {
      db = openDb({ url: pooled, size: WORKERS, isBehindPooler: true, onError: () => undefined });
      for (let n = 0; n < TENANTS; n += 1) {
        const tenantId = randomUUID();
        callers.push({ kind: 'system', tenantId });
        await owner.query('insert into tenants (id, slug, name) values ($1, $2, $2)', [
          tenantId,
          `pooled-${n}`,
        ]);
        await owner.query(
          `insert into warehouses (tenant_id, id, name, is_primary) values ($1::uuid, gen_random_uuid(), 'canary:' || $1, true)`,
          [tenantId],
        );
      }
    }, LIMIT_MS);

    afterAll(() => db.close());

    // A fixed statement, which is prepared without a pooler.
    const seen = once`select name from warehouses`;
    const contextOf = (caller: SystemCaller) => makeContext(db, caller, 'a-test');
    const ACCESS_METHODS: Record<string, (ctx: SystemContext, statement: Sql) => Promise<unknown>> = {
      read: async (ctx, statement) => (await ctx.read([statement]))[0],
      'read in steps': (ctx, statement) => ctx.read((tx) => tx.query(statement), { timeoutMs: 9_000 }),
      'write in one round trip': async (ctx, statement) => (await ctx.write([statement]))[0],
      'write in steps': (ctx, statement) => ctx.write((tx) => tx.query(statement)),
      'write with a timeout': (ctx, statement) =>
        ctx.write((tx) => tx.query(statement), { timeoutMs: 9_000 }),
    };

    test(
      `shows no row of another tenant to ${WORKERS} workers of ${TENANTS} tenants on 4 shared sessions`,
      async () => {
        const wrong: unknown[] = [];
        let reads = 0;
        const read = async (worker: number) => {
          for (let round = 0; round < ROUNDS; round += 1) {
            const caller = callers[(worker * 7 + round * 13) % TENANTS];
            if (!caller) throw new Error('Tenant not found.');
            for (const method of Object.values(ACCESS_METHODS)) {
              const rows = await retryWhileBusy(() => method(contextOf(caller), seen));
              reads += 1;
              const isOwn = JSON.stringify(rows) === JSON.stringify([{ name: `canary:${caller.tenantId}` }]);
              if (!isOwn) wrong.push([caller.tenantId, rows]);
            }
            // The scope ends with the transaction.
            const { rows } = await retryWhileBusy(() => db.pool.query('select name from warehouses'));
            if (rows.length > 0) wrong.push(['no scope', rows]);
          }
        };
        await Promise.all(Array.from({ length: WORKERS }, (_, worker) => read(worker)));
        expect(wrong).toEqual([]);
        expect(reads).toBe(WORKERS * ROUNDS * Object.keys(ACCESS_METHODS).length);
      },
      LIMIT_MS,
    );

    test('set on the session shows rows of other tenants, so the reads of the previous test would detect them', async () => {
      // A separate pooler, because its sessions keep their settings.
      const sharedSessions = await startPooler([direct]);
      const pool = new pg.Pool({ connectionString: sharedSessions.through(direct), max: WORKERS });
      let foreign = 0;
      const read = async (worker: number) => {
        for (let round = 0; round < 4; round += 1) {
          const tenantId = callers[(worker * 7 + round * 13) % TENANTS]?.tenantId;
          const client = await pool.connect();
          await client.query(
            "select set_config('app.tenant_id', $1, false), set_config('app.courier_id', 'all', false)",
            [tenantId],
          );
          const { rows } = await client.query('select name from warehouses');
          client.release();
          if (rows[0]?.name !== `canary:${tenantId}`) foreign += 1;
        }
      };
      await Promise.all(Array.from({ length: WORKERS }, (_, worker) => read(worker)));
      await pool.end();
      await sharedSessions.stop();
      expect(foreign).toBeGreaterThan(0);
    });

    test('sets UTC, a statement timeout and no JIT, which a pooled session does not keep', async () => {
      const settings = sql`select current_setting('timezone') as zone, current_setting('statement_timeout') as limit,
        current_setting('jit') as jit`;
      const [caller] = callers;
      if (!caller) throw new Error('There is no tenant.');
      for (const [method, read] of Object.entries(ACCESS_METHODS)) {
        const limit = /^(write with a timeout|read in steps)$/.test(method) ? '9s' : '15s';
        expect([method, await read(contextOf(caller), settings)]).toEqual([
          method,
          [{ zone: 'UTC', limit, jit: 'off' }],
        ]);
      }
      const { rows } = await db.pool.query(settings.text);
      expect(rows).toEqual([{ zone: 'America/Jamaica', limit: '0', jit: 'on' }]);
    });

    test('prepares no statement in a pooled session', async () => {
      const clients = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const client = await db.pool.connect();
          await client.query('begin');
          return client;
        }),
      );
      const names: unknown[] = [];
      for (const client of clients) {
        names.push(...(await client.query('select name from pg_prepared_statements')).rows);
        await client.query('rollback');
        client.release();
      }
      expect(names).toEqual([]);
    });
  });

  describe('the start is rejected', () => {
    const start = async (env: Record<string, string>, runsJobs = true) => {
      try {
        const prepared = await prepareDatabase(developmentConfig(env), () => undefined, runsJobs);
        await prepared.stop();
        return 'started';
      } catch (error) {
        return String(error).replace(/^(Config)?Error: /, '');
      }
    };
    const DATABASE_POOLER = 'transaction';

    test('if a pooler is used without DATABASE_POOLER, in one line, by server, worker and migration', async () => {
      const line = /^DATABASE_URL leads to a connection pooler: set DATABASE_POOLER=transaction, .*\n$/;
      for (const program of ['src/main.js', 'src/worker.js']) {
        const refused = run(program, { DATABASE_URL: pooled });
        expect(await refused.ended).toEqual({ code: 1, signal: null });
        expect(refused.output()).toMatch(line);
      }
      const migration = run('src/commands/migrate.js', {
        DATABASE_OWNER_URL: pooler.through(database.ownerUrl),
      });
      expect(await migration.ended).toEqual({ code: 1, signal: null });
      expect(migration.output()).toMatch(/^The URL of the owner leads to a connection pooler: .*\n$/);
    });

    test('if a process with a worker has no direct connection, even src/worker.js with RUN_WORKER=false', async () => {
      const env = { DATABASE_URL: pooled, DATABASE_POOLER };
      const line =
        /^DATABASE_DIRECT_URL is required with DATABASE_POOLER in a process that works the queue: /;
      expect(await start(env)).toMatch(line);
      const worker = run('src/worker.js', { ...env, RUN_WORKER: 'false' });
      expect(await worker.ended).toEqual({ code: 1, signal: null });
      expect(worker.output()).toMatch(line);
      expect(await start(env, false)).toBe('started');
    });

    test('if the direct connection leads to the pooler, to another database, or nowhere', async () => {
      const to = (DATABASE_DIRECT_URL: string) =>
        start({ DATABASE_URL: pooled, DATABASE_POOLER, DATABASE_DIRECT_URL });
      expect(await to(pooled)).toBe(
        'DATABASE_DIRECT_URL leads to a connection pooler: set it to a connection to PostgreSQL itself',
      );
      const otherDatabase = Object.assign(new URL(direct), { pathname: '/postgres' }).href;
      expect(await to(otherDatabase)).toBe('DATABASE_DIRECT_URL leads to another database than DATABASE_URL');
      const nowhere = Object.assign(new URL(direct), { pathname: '/nowhere' }).href;
      expect(await to(nowhere)).toMatch(/^DATABASE_DIRECT_URL: .*"nowhere" does not exist/);
      expect(await to(direct)).toBe('started');
    });

    test("if the owner's connection leads to the pooler, with or without DATABASE_POOLER", async () => {
      const DATABASE_OWNER_URL = pooler.through(database.ownerUrl);
      const line =
        'DATABASE_OWNER_URL leads to a connection pooler: set it to a connection to PostgreSQL itself';
      const env = { DATABASE_URL: pooled, DATABASE_POOLER, DATABASE_OWNER_URL };
      expect(await start({ ...env, DATABASE_DIRECT_URL: direct })).toBe(line);
      expect(await start({ DATABASE_URL: direct, DATABASE_OWNER_URL })).toBe(line);
    });

    test('if the login can bypass row-level security, in development too, because a pooled session keeps no role', async () => {
      const env = { DATABASE_URL: pooler.through(database.ownerUrl), DATABASE_POOLER };
      expect(await start({ ...env, DATABASE_DIRECT_URL: direct })).toMatch(
        /^DATABASE_URL must not be able to bypass row-level security, but .* is a superuser; grant crossdock_app/,
      );
    });

    test('if the pooler is in statement mode, which has no transactions; session mode works', async () => {
      const env = { DATABASE_POOLER, DATABASE_DIRECT_URL: direct };
      const statements = await startPooler([direct], { mode: 'statement' });
      expect(await start({ ...env, DATABASE_URL: statements.through(direct) })).toMatch(
        /^DATABASE_URL: .*transaction/,
      );
      await statements.stop();
      const sessions = await startPooler([direct], { mode: 'session' });
      expect(await start({ ...env, DATABASE_URL: sessions.through(direct) })).toBe('started');
      await sessions.stop();
    });
  });
});

test('a prepared statement is named after its text, independent of the order of preparation', async () => {
  const fresh = await demoDatabase();
  const db = openDb({ url: fresh.ownerUrl, size: 1, assumeRole: 'crossdock_app', onError: () => undefined });
  const other = openDb({
    url: fresh.ownerUrl,
    size: 1,
    assumeRole: 'crossdock_app',
    onError: () => undefined,
  });
  const caller: SystemCaller = { kind: 'system', tenantId: DEMO.tenants.demo };
  const texts = [once`select 'one' as text`, once`select 'two' as text`];
  const namesOf = async (each: Db, statements: Sql[]) => {
    for (const statement of statements) await makeContext(each, caller, 'a-test').read([statement]);
    const { rows } = await each.pool.query(
      "select name, statement from pg_prepared_statements where statement like 'select ''% as text' order by statement",
    );
    return rows;
  };
  const [names, reversed] = [await namesOf(db, texts), await namesOf(other, texts.toReversed())];
  expect(names).toHaveLength(2);
  expect(reversed).toEqual(names);
  for (const { name } of names) expect(name).toMatch(/^crossdock_[0-9a-f]{40}$/);
  await db.close();
  await other.close();
  await fresh.drop();
});

/** Retries while no connection becomes free in time, as a client does after 503. */
async function retryWhileBusy<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (
        !/timeout exceeded when trying to connect|connection timeout|Unable to start a transaction/.test(
          String(error),
        )
      )
        throw error;
    }
  }
}
