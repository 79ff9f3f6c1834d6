import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { openDb } from '../../src/platform/db/open-database.js';
import { APP_ROLE, withClient } from '../../src/platform/db/connections/roles.js';
import { openSchemaEngine } from '../support/migrations/schema-engine.js';
import { makeContext } from '../../src/platform/context/request-context.js';
import type { Db } from '../../src/platform/db/database.js';
import { sql } from '../../src/platform/db/statements.js';
import { newId } from '../../src/platform/values/ids.js';
import { installQueue } from '../../src/platform/db/migrations/install-queue.js';
import { projectRoot } from '../../src/config/project-root.js';
import { freshDatabase, type TestDatabase } from '../support/service/database.js';
import { matching } from '../support/assertions/matching.js';

let database: TestDatabase;
let owner: pg.Pool;

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
  owner.on('error', () => {});
});

afterAll(async () => {
  await owner.end();
  await database.drop();
});

/** Returns the first column of a statement's rows. */
async function list(statement: string, pool = owner): Promise<string[]> {
  const { rows } = await pool.query<{ [name: string]: unknown }>(statement);
  return rows.map((row) => String(Object.values(row)[0]));
}

const PUBLIC_TABLES = `t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and t.relname <> '_prisma_migrations'`;
const TABLES = `pg_class t where ${PUBLIC_TABLES}`;

describe('tenant isolation of every table', () => {
  test('finds tables to check', async () => {
    const tables = await list(`select t.relname from ${TABLES}`);
    expect(tables.length).toBeGreaterThan(15);
    expect(tables).toEqual(
      expect.arrayContaining([
        ...['event_counters', 'events', 'webhook_deliveries', 'webhook_attempts', 'webhook_endpoints'],
        ...['dispatches', 'manifest_mails', 'customer_sync_runs', 'integration_checks'],
        ...['api_calls', 'api_call_parcels'],
      ]),
    );
  });

  test('each table except tenants has a tenant_id that cannot be null', async () => {
    const without = await list(`select t.relname from ${TABLES} and t.relname <> 'tenants' and not exists (
      select from pg_attribute a where a.attrelid = t.oid and a.attname = 'tenant_id' and a.attnotnull)`);
    expect(without).toEqual([]);
  });

  test('each table has a policy and row-level security, which also applies to its owner', async () => {
    expect(
      await list(`select t.relname from ${TABLES} and not (t.relrowsecurity and t.relforcerowsecurity)`),
    ).toEqual([]);
    const withoutPolicy = await list(`select t.relname from ${TABLES} and not exists (
      select from pg_policy p where p.polrelid = t.oid)`);
    expect(withoutPolicy).toEqual([]);
  });

  test('each policy for the service checks the tenant for reads and writes', async () => {
    const violations = await list(`select p.tablename || '.' || p.policyname from pg_policies p
      where p.schemaname = 'public' and p.roles && array['public', '${APP_ROLE}']::name[]
        and (coalesce(p.qual, 'app_tenant()') !~ 'app_tenant\\(\\)'
          or coalesce(p.with_check, 'app_tenant()') !~ 'app_tenant\\(\\)')`);
    expect(violations).toEqual([]);
  });

  test('no policy builds a plan node to check a new row in the tables that each write uses (decision 0045)', async () => {
    const written = ['prealerts', 'packages', 'package_events', 'prealert_tallies', 'package_tallies'];
    const policies = `from pg_policies where tablename = any (array['${[...written, 'audit_entries', 'audit_unsealed'].join("','")}'])
      and with_check is not null and cmd in ('ALL', 'INSERT')`;
    expect(await list(`select tablename ${policies}`)).toHaveLength(written.length + 2);
    expect(
      await list(`select tablename || '.' || policyname ${policies} and with_check ~* 'select'`),
    ).toEqual([]);
  });

  test("only the schema's owner and the lookup role have policies of their own", async () => {
    const roles = await list(`select distinct role from pg_policies, unnest(roles) role
      where schemaname = 'public' and role not in ('public', current_user) order by role`);
    expect(roles).toEqual(['crossdock_lookup']);
  });

  test('each table with rows of couriers is restricted to the courier', async () => {
    const violations = await list(`select t.relname from ${TABLES} and exists (
        select from pg_attribute a where a.attrelid = t.oid and a.attname = 'courier_id')
      and exists (select from pg_policies p where p.tablename = t.relname and p.cmd in ('ALL', 'SELECT')
        and 'public' = any(p.roles) and p.qual !~ 'app_courier\\(\\)|app_sees_all_couriers\\(\\)')`);
    expect(violations).toEqual([]);
  });

  test('primary keys start with the tenant', async () => {
    const others = await list(`select t.relname from ${TABLES} and t.relname <> 'tenants' and not exists (
      select from pg_constraint c join pg_attribute a on a.attrelid = t.oid and a.attnum = c.conkey[1]
      where c.conrelid = t.oid and c.contype = 'p' and a.attname = 'tenant_id')`);
    expect(others).toEqual([]);
  });

  test('foreign keys between tenant tables contain the tenant on both sides', async () => {
    const violations = await list(`select c.conname from pg_constraint c
      where c.contype = 'f' and c.connamespace = 'public'::regnamespace and c.confrelid <> 'tenants'::regclass
        and not exists (
          select from unnest(c.conkey, c.confkey) as pair (own_column, other_column)
          join pg_attribute a on a.attrelid = c.conrelid and a.attnum = pair.own_column
          join pg_attribute b on b.attrelid = c.confrelid and b.attnum = pair.other_column
          where a.attname = 'tenant_id' and b.attname = 'tenant_id')`);
    expect(violations).toEqual([]);
    expect((await list(`select conname from pg_constraint where contype = 'f'`)).length).toBeGreaterThan(10);
  });

  test('unique indexes start with the tenant, so that a conflict reveals nothing about another tenant', async () => {
    const violations =
      await list(`select i.indexrelid::regclass from pg_index i join pg_class t on t.oid = i.indrelid
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
      where ${PUBLIC_TABLES} and i.indisunique and a.attname <> 'tenant_id'`);
    // tables of the installation itself, such as the tenant of each host
    expect(violations.sort()).toEqual(['tenant_hosts_host_key', 'tenants_pkey', 'tenants_slug_key']);
  });

  test('views run with the rights of the querying role', async () => {
    const views = await list(`select v.relname from pg_class v where v.relnamespace = 'public'::regnamespace
      and v.relkind in ('v', 'm') and not coalesce(v.reloptions @> array['security_invoker=true'], false)`);
    expect(views).toEqual([]);
  });
});

describe('roles', () => {
  test.each([APP_ROLE, 'crossdock_lookup'])(
    '%s is not a superuser and cannot bypass row-level security, log in, or create roles or databases',
    async (role) => {
      const { rows } = await owner.query(
        `select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb, rolreplication from pg_roles where rolname = $1`,
        [role],
      );
      expect(rows).toEqual([
        {
          rolsuper: false,
          rolbypassrls: false,
          rolcanlogin: false,
          rolcreaterole: false,
          rolcreatedb: false,
          rolreplication: false,
        },
      ]);
    },
  );

  test("the service's role owns nothing and is a member of no role", async () => {
    expect(
      await list(
        `select objid::text from pg_shdepend where refobjid = '${APP_ROLE}'::regrole and deptype = 'o'`,
      ),
    ).toEqual([]);
    expect(
      await list(`select roleid::regrole from pg_auth_members where member = '${APP_ROLE}'::regrole`),
    ).toEqual([]);
  });

  test('the service cannot change the schema, migrations, tenants or append-only tables', async () => {
    const { rows } =
      await owner.query(`select has_schema_privilege('${APP_ROLE}', 'public', 'create') as creates,
      has_table_privilege('${APP_ROLE}', '_prisma_migrations', 'insert, update, delete') as migrates,
      has_table_privilege('${APP_ROLE}', 'tenants', 'insert, update, delete') as founds,
      has_table_privilege('${APP_ROLE}', 'tenant_hosts', 'insert, update, delete') as hosts,
      has_table_privilege('${APP_ROLE}', 'audit_entries', 'update, delete') as rewrites,
      has_table_privilege('${APP_ROLE}', 'package_events', 'update, delete') as forgets,
      has_table_privilege('${APP_ROLE}', 'events', 'update') as retells,
      has_table_privilege('${APP_ROLE}', 'webhook_attempts', 'update') as retries,
      has_table_privilege('${APP_ROLE}', 'event_counters', 'delete') as recounts`);
    expect(rows).toEqual([
      {
        ...{ creates: false, migrates: false, founds: false, hosts: false, rewrites: false, forgets: false },
        ...{ retells: false, retries: false, recounts: false },
      },
    ]);
    expect(
      await list(
        `select t.relname from ${TABLES} and has_table_privilege('${APP_ROLE}', t.oid, 'truncate, trigger')`,
      ),
    ).toEqual([]);
  });

  test('functions that bypass row-level security belong to the lookup role and have a fixed search_path', async () => {
    const found = await owner.query<{ name: string; role: string; settings: string[] | null; open: boolean }>(
      `select proname as name, proowner::regrole::text as role, proconfig as settings,
         has_function_privilege('public', oid, 'execute') as open
       from pg_proc where pronamespace = 'public'::regnamespace and prosecdef order by proname`,
    );
    expect(found.rows.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['all_tenants', 'search_prealerts', 'tenant_of_host']),
    );
    for (const { name, role, settings, open } of found.rows) {
      expect([name, role, open]).toEqual([name, 'crossdock_lookup', false]);
      expect(settings).toContain('search_path=public, pg_temp');
    }
  });

  test('the lookup role writes nothing but the tenants and the paths of sandboxes', async () => {
    const writable = await list(`select t.relname || ' ' || privilege
      from unnest('{insert,update,delete,truncate}'::text[]) as privilege, ${TABLES}
      and has_table_privilege('crossdock_lookup', t.oid, privilege) order by 1`);
    expect(writable).toEqual(['tenant_hosts delete', 'tenant_hosts insert', 'tenants insert']);
    const { rows } = await owner.query(
      `select has_schema_privilege('crossdock_lookup', 'public', 'create') as creates`,
    );
    expect(rows).toEqual([{ creates: false }]);
  });

  test.each([
    ['a live tenant', `insert into tenants (id, slug, name) values (gen_random_uuid(), 'live', 'Live')`],
    ['a host', `insert into tenant_hosts (tenant_id, host) values (gen_random_uuid(), 'evil.example')`],
  ])('the lookup role cannot add %s', async (_what, statement) => {
    await expect(asLookup(statement)).rejects.toThrow('row-level security');
  });

  test('the lookup role cannot remove the host of a live tenant', async () => {
    expect(await asLookup('delete from tenant_hosts')).toBe(0);
  });

  /** Executes a statement with the rights of the lookup role, and rolls back. Returns the number of rows. */
  async function asLookup(statement: string): Promise<number | null> {
    const client = await owner.connect();
    try {
      await client.query('begin');
      await client.query("insert into tenants (id, slug, name) values (gen_random_uuid(), 'alive', 'Alive')");
      await client.query(
        "insert into tenant_hosts (tenant_id, host) select id, 'alive.example' from tenants where slug = 'alive'",
      );
      await client.query('set local role crossdock_lookup');
      return (await client.query(statement)).rowCount;
    } finally {
      await client.query('rollback');
      client.release();
    }
  }
});

describe('the schemas of the job queue, which belong to no tenant', () => {
  const SCHEMAS = ['queue', 'graphile_worker'];
  const QUEUE_TABLES = `pg_class t where t.relnamespace = any('{${SCHEMAS.join()}}'::regnamespace[])`;

  // Payload, key and queue_name contain a tenant's ids; test/modules/webhooks/events/event-sequences.test.ts checks
  // their content.
  const COLUMNS: Record<string, string[]> = {
    'queue.worker_pools': ['id', 'seen_at'],
    'graphile_worker._private_jobs': [
      ...['id', 'job_queue_id', 'task_id', 'payload', 'priority', 'run_at', 'attempts', 'max_attempts'],
      ...['last_error', 'created_at', 'updated_at', 'key', 'locked_at', 'locked_by', 'revision', 'flags'],
      'is_available',
    ],
    'graphile_worker._private_job_queues': ['id', 'queue_name', 'locked_at', 'locked_by', 'is_available'],
    'graphile_worker._private_known_crontabs': ['identifier', 'known_since', 'last_execution'],
    'graphile_worker._private_tasks': ['id', 'identifier'],
    'graphile_worker.migrations': ['id', 'ts', 'breaking'],
  };

  test('have exactly these tables and columns', async () => {
    const { rows } = await owner.query<{ name: string; columns: string[] }>(
      `select t.relnamespace::regnamespace || '.' || t.relname as name,
         array_agg(a.attname::text order by a.attnum) as columns
       from ${QUEUE_TABLES.replace('where', "join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped where t.relkind in ('r', 'p') and")}
       group by name`,
    );
    expect(Object.fromEntries(rows.map(({ name, columns }) => [name, columns]))).toEqual(COLUMNS);
  });

  test('can be read and written by the service, except their structure and version', async () => {
    const unusable =
      await list(`select t.relname from ${QUEUE_TABLES} and t.relkind = 'r' and t.relname <> 'migrations'
      and not (has_table_privilege('${APP_ROLE}', t.oid, 'select') and has_table_privilege('${APP_ROLE}', t.oid, 'insert')
        and has_table_privilege('${APP_ROLE}', t.oid, 'update') and has_table_privilege('${APP_ROLE}', t.oid, 'delete'))`);
    expect(unusable).toEqual([]);
    const owned = await list(`select t.relname from ${QUEUE_TABLES} and t.relkind = 'r'
      and has_table_privilege('${APP_ROLE}', t.oid, 'truncate, trigger')`);
    expect(owned).toEqual([]);
    const { rows } = await owner.query(
      `select bool_or(has_schema_privilege('${APP_ROLE}', name, 'create')) as creates,
         has_table_privilege('${APP_ROLE}', 'graphile_worker.migrations', 'insert, update, delete') as migrates
       from unnest($1::text[]) name`,
      [SCHEMAS],
    );
    expect(rows).toEqual([{ creates: false, migrates: false }]);
  });

  test('the service can add, read and delete a job without a tenant scope', async () => {
    const db = openDb({ url: database.ownerUrl, size: 1, assumeRole: APP_ROLE, onError: () => {} });
    try {
      const { rows: added } = await db.pool.query(
        "select key from graphile_worker.add_jobs(array[row('sweep', '{}', 'q', now(), 1, 'catalogue', 0, null)::graphile_worker.job_spec])",
      );
      expect(added).toEqual([{ key: 'catalogue' }]);
      const taken = "delete from graphile_worker._private_jobs where key = 'catalogue' returning key";
      expect((await db.pool.query(taken)).rows).toEqual(added);
      await db.pool.query("insert into queue.worker_pools (id) values ('catalogue')");
      await db.pool.query("update queue.worker_pools set seen_at = now() where id = 'catalogue'");
      const { rows } = await db.pool.query(
        "delete from queue.worker_pools where id = 'catalogue' returning id",
      );
      expect(rows).toEqual([{ id: 'catalogue' }]);
    } finally {
      await db.close();
    }
  });

  test('only the service and the owner can use them', async () => {
    const open = await list(`select t.relname from ${QUEUE_TABLES} and t.relkind in ('r', 'v')
      and (has_table_privilege('public', t.oid, 'select, insert, update, delete')
        or has_table_privilege('crossdock_lookup', t.oid, 'select, insert, update, delete'))`);
    expect(open).toEqual([]);
  });

  test('a second installation of the queue changes nothing', async () => {
    const grants = () =>
      list(`select concat_ws(' ', table_schema, table_name, grantee, privilege_type) as found
        from information_schema.role_table_grants where table_schema = any('{${SCHEMAS.join()}}') order by found`);
    const policies = () =>
      list(`select concat_ws(' ', tablename, policyname) as found from pg_policies
        where schemaname = 'graphile_worker' order by found`);
    const before = [await grants(), await policies()];
    expect(before[1]).not.toEqual([]);
    await withClient(database.ownerUrl, (client) => installQueue(database.ownerUrl, client));
    expect([await grants(), await policies()]).toEqual(before);
  });
});

describe('the schema of the installation, which belongs to no tenant', () => {
  test('has exactly these columns', async () => {
    expect(
      await list(`select concat_ws('.', table_name, column_name) as found from information_schema.columns
        where table_schema = 'installation' order by table_name, ordinal_position`),
    ).toEqual([
      ...['name', 'status', 'tenant_id', 'last_key', 'rows_done', 'rows_total', 'batch_rows', 'last_error']
        .concat('created_at', 'updated_at', 'finished_at', 'findings')
        .map((column) => `background_migrations.${column}`),
      ...['name', 'app_env', 'fingerprints', 'version', 'first_seen_at', 'seen_at'].map(
        (column) => `deployments.${column}`,
      ),
      ...['id', 'server', 'paused_at', 'paused_because'].map((column) => `outbound.${column}`),
      ...['id', 'name', 'encryption_keys', 'started_at', 'seen_at'].map((column) => `processes.${column}`),
      ...['tenant_id', 'state', 'role', 'other_cell', 'changed_at'].map((column) => `tenant_cells.${column}`),
      ...['tenant_markers.tenant_id', 'tenant_markers.marker'],
    ]);
  });

  test('the service records deployments and progress, and cannot delete or add what the owner registers', async () => {
    const rights = (table: string) =>
      list(`select name from unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as name
        where has_table_privilege('${APP_ROLE}', 'installation.${table}', name)`);
    expect(await rights('deployments')).toEqual(['select', 'insert', 'update']);
    expect(await rights('outbound')).toEqual(['select', 'update']);
    expect(await rights('processes')).toEqual(['select', 'insert', 'update', 'delete']);
    expect(await rights('background_migrations')).toEqual(['select']);
    expect(await rights('tenant_cells')).toEqual(['select']);
    expect(await rights('tenant_markers')).toEqual(['select']);
    expect(
      await list(
        `select has_column_privilege('${APP_ROLE}', 'installation.background_migrations', 'name', 'update')`,
      ),
    ).toEqual(['false']);
    // The states of tenants that are being moved. The function that finds a host's tenant reads them.
    const others = `select table_name from information_schema.role_table_grants where table_schema = 'installation'
      and grantee not in ('${APP_ROLE}', current_user)`;
    expect(await list(others)).toEqual(['tenant_cells']);
  });
});

describe('schema.prisma and the migrations', () => {
  let derived: TestDatabase;
  let fromSchema: pg.Pool;

  beforeAll(async () => {
    derived = await freshDatabase();
    fromSchema = new pg.Pool({ connectionString: derived.ownerUrl, max: 1 });
    fromSchema.on('error', () => {});
    await fromSchema.query('drop schema public cascade; create schema public');
    await fromSchema.query(await scriptOfSchema(derived.ownerUrl));
  });

  afterAll(async () => {
    await fromSchema.end();
    await derived.drop();
  });

  async function scriptOfSchema(url: string): Promise<string> {
    const content = readFileSync(join(projectRoot, 'prisma', 'schema.prisma'), 'utf8');
    const { engine, close } = await openSchemaEngine(url, content);
    try {
      const { stdout } = await engine.diff({
        from: { tag: 'empty' },
        to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content }] },
        script: true,
        exitCode: null,
        filters: { externalTables: [], externalEnums: [] },
      });
      return stdout ?? '';
    } finally {
      await close();
    }
  }

  const COLUMNS = `select concat_ws(' ', t.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then 'not null' end, pg_get_expr(d.adbin, d.adrelid)) as found
    from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum where ${PUBLIC_TABLES} order by found`;

  const KEYS = `select concat_ws(' ', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) as found
    from pg_constraint c where c.connamespace = 'public'::regnamespace and c.contype in ('p', 'f', 'u')
      and c.conrelid <> coalesce(to_regclass('_prisma_migrations'), 0) order by found`;

  // indexes on whole columns and tables, which Prisma can express
  const INDEXES = `select pg_get_indexdef(i.indexrelid) as found from pg_index i join pg_class x on x.oid = i.indexrelid
    join pg_am am on am.oid = x.relam
    where x.relnamespace = 'public'::regnamespace and am.amname = 'btree' and i.indpred is null and i.indexprs is null
      and i.indrelid <> coalesce(to_regclass('_prisma_migrations'), 0) order by found`;

  /** What a key does besides, which Prisma cannot express: it would set the whole key to null, also the tenant. */
  const BESIDES: Record<string, string> = {
    feeds_tenant_id_customer_id_fkey: ' ON DELETE SET NULL (customer_id)',
  };

  test.each([
    ['columns', COLUMNS],
    ['keys', KEYS],
    ['indexes', INDEXES],
  ])('agree on %s', async (_what, statement) => {
    const [migrated, expressed] = [await list(statement), await list(statement, fromSchema)];
    const wanted = expressed.map((each) => each + (BESIDES[each.split(' ')[1] ?? ''] ?? ''));
    expect(wanted.length).toBeGreaterThan(15);
    expect(migrated).toEqual(wanted);
  });

  test('no model sets a time from the clock of the client', () => {
    const schema = readFileSync(join(projectRoot, 'prisma', 'schema.prisma'), 'utf8');
    expect(schema).toContain('CURRENT_TIMESTAMP');
    expect(schema).not.toMatch(
      matching(/@default\(now\(\)\)|@updatedAt/, 'at DateTime @default(now())', 'at DateTime @updatedAt'),
    );
  });
});

describe('tenant scopes on a shared connection pool', () => {
  const TENANTS = 50;
  const WORKERS = 32;
  const ROUNDS = 25;
  let db: Db & { close(): Promise<void> };
  let tenants: { tenantId: string; userId: string; courierId: string; text: string }[];

  beforeAll(async () => {
    db = openDb({ url: database.ownerUrl, size: 8, assumeRole: APP_ROLE, onError: () => {} });
    // Without the application's own filters, only row-level security separates the tenants.
    db.applicationFilters = false;
    tenants = Array.from({ length: TENANTS }, (_, index) => ({
      tenantId: newId(),
      userId: newId(),
      courierId: newId(),
      text: `canary-${index}`,
    }));
    for (const tenant of tenants) await insertTenant(tenant);
  });

  afterAll(async () => {
    await db.close();
  });

  async function insertTenant({
    tenantId,
    userId,
    courierId,
    text,
  }: (typeof tenants)[number]): Promise<void> {
    await owner.query('insert into tenants (id, slug, name) values ($1, $2, $2)', [tenantId, text]);
    await owner.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $3)', [
      tenantId,
      courierId,
      text,
    ]);
    await owner.query(
      `insert into users (tenant_id, id, username, full_name, role, password_hash) values ($1, $2, $3, $3, 'admin', '-')`,
      [tenantId, userId, text],
    );
    await owner.query(
      `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor)
       select $1, gen_random_uuid(), $2, $3, $3 || '-' || n, $3 || '-' || n, $3 from generate_series(1, 5) n`,
      [tenantId, courierId, text],
    );
  }

  const callerOf = ({ tenantId, userId }: (typeof tenants)[number]) => ({
    kind: 'user' as const,
    tenantId,
    userId,
    role: 'admin' as const,
    courierId: null,
    tokenVersion: 1,
    expiresAt: Math.floor(Date.now() / 1000) + 3_600,
  });

  const READ = sql`select p.tenant_id, p.vendor, c.name from prealerts p join couriers c on c.id = p.courier_id`;
  // fails after the scope is set, in the middle of the pipeline
  const BREAK = sql`select 1 / 0`;

  test(`${WORKERS} workers on ${TENANTS} tenants never read another tenant's rows, even between failed transactions`, async () => {
    let reads = 0;
    const work = async (worker: number) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const tenant = tenants[(worker * 7 + round * 13) % TENANTS];
        if (!tenant) throw new Error('no such tenant');
        const ctx = makeContext(db, callerOf(tenant), 'a-test');
        if ((worker + round) % 5 === 0) {
          await expect(ctx.write([READ, BREAK, READ])).rejects.toThrow('division by zero');
          continue;
        }
        const rows = round % 2 === 0 ? (await ctx.write([READ]))[0] : await ctx.write((tx) => tx.query(READ));
        expect(rows).toHaveLength(5);
        for (const row of rows) {
          expect(row).toEqual({ tenant_id: tenant.tenantId, vendor: tenant.text, name: tenant.text });
        }
        reads += 1;
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
    expect(reads).toBeGreaterThan((WORKERS * ROUNDS) / 2);
  });

  test('outside a scope no rows are visible, on any connection that served one', async () => {
    const counts = await Promise.all(
      Array.from({ length: 16 }, () =>
        db.pool.query<{ n: number }>('select count(*)::int as n from prealerts'),
      ),
    );
    expect(counts.map(({ rows }) => rows[0]?.n)).toEqual(Array(16).fill(0));
  });

  test('a rejected caller reads and writes nothing, although its statements were already sent', async () => {
    const [tenant] = tenants;
    if (!tenant) throw new Error('no such tenant');
    const stale = { ...callerOf(tenant), tokenVersion: 2 };
    const before = await list(`select count(*) from prealerts where tenant_id = '${tenant.tenantId}'`);
    const write = sql`delete from prealerts where tenant_id = ${tenant.tenantId}::uuid`;
    await expect(makeContext(db, stale, 'a-test').write([write])).rejects.toMatchObject({
      code: 'token_invalid',
    });
    expect(await list(`select count(*) from prealerts where tenant_id = '${tenant.tenantId}'`)).toEqual(
      before,
    );
  });

  test('the policies reject a write to another tenant', async () => {
    const [own, other] = tenants;
    if (!own || !other) throw new Error('no such tenant');
    const write = sql`insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key)
      values (${other.tenantId}::uuid, ${newId()}::uuid, ${other.courierId}::uuid, 'X', 'X', 'X')`;
    // The policy of prealerts rejects it, not that of the counters, which a trigger updates afterwards.
    const refusal = 'row-level security policy for table "prealerts"';
    await expect(makeContext(db, callerOf(own), 'a-test').write([write])).rejects.toThrow(refusal);
    const move = sql`update prealerts set tenant_id = ${other.tenantId}::uuid, courier_id = ${other.courierId}::uuid`;
    await expect(makeContext(db, callerOf(own), 'a-test').write([move])).rejects.toThrow(refusal);
  });
});
