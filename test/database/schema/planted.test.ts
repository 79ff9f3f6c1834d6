import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigError, readConfig } from '../../../src/config/config.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { checkRights } from '../../../src/startup/doctor/checks/rights.js';
import { checkProtections } from '../../../src/startup/doctor/checks.js';
import { prepareDatabase } from '../../../src/startup/prepare-database.js';
import { endProcesses, removeFolders, run } from '../../support/service/processes.js';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import { roleStatements } from '../../support/staging/role-statements.js';

// An installation as deploy/postgres/roles.sql makes it: the owner is not a superuser, and the service has a login of its own.

const LIMIT_MS = 60_000;
const OWNER = { user: 'crossdock_owner', password: 'owner-password' };
const LOGIN = { user: 'crossdock_login', password: 'login-password' };
const SETTINGS = {
  APP_ENV: 'production',
  TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
  ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
  LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
  TRUST_PROXY: '127.0.0.1',
};

let server: OwnServer;
let copies = 0;

beforeAll(async () => {
  server = await startOwnServer();
  for (const statement of roleStatements()) await server.query(statement);
  await migrate(server.urlOf('crossdock', OWNER), MIGRATIONS);
}, LIMIT_MS);

afterEach(endProcesses);

afterAll(async () => {
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

/** Runs statements of a superuser in a copy of the database, and returns the lines with which a start ends. */
async function startAfter(statements: string, undo = ''): Promise<string[]> {
  copies += 1;
  const name = `copy_${copies}`;
  await server.query(`create database ${name} template crossdock owner ${OWNER.user} strategy file_copy`);
  await server.query(`grant connect, temporary on database ${name} to ${LOGIN.user}`);
  await server.query(`revoke all on database ${name} from public`);
  try {
    if (statements) await server.query(statements, name);
    const config = readConfig({ ...SETTINGS, DATABASE_URL: server.urlOf(name, LOGIN) });
    const prepared = await prepareDatabase(config, () => undefined, true);
    await prepared.stop();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  } finally {
    if (undo) await server.query(undo, name);
  }
}

/** Returns the findings of the doctor about schema and rights of the last copy, as its login sees it. */
async function examineCopy(): Promise<string[]> {
  const url = server.urlOf(`copy_${copies}`, LOGIN);
  const config = readConfig({ ...SETTINGS, DATABASE_URL: url });
  const findings = await withClient(url, async (client) => [
    ...(await checkProtections({ client })),
    ...(await checkRights({ client, config, url })),
  ]);
  expect(findings).not.toEqual([]);
  return findings.filter(({ level }) => level !== 'ok').map(({ level, message }) => `${level} ${message}`);
}

test(
  'a database without a difference serves, and the doctor confirms it',
  async () => {
    expect(await startAfter('')).toEqual([]);
    expect(await examineCopy()).toEqual([]);
    const doctor = run('src/commands/doctor.js', {
      ...SETTINGS,
      DATABASE_URL: server.urlOf(`copy_${copies}`, LOGIN),
    });
    await doctor.ended;
    expect(doctor.output()).toMatch(/^ok +schema +The schema is what the migrations make\.$/m);
  },
  LIMIT_MS,
);

const RIGHTS = 'Run as the owner: ';

/** Statements, the line that names the difference, and the end of its remedy. */
const DANGEROUS: [title: string, statements: string, message: string, remedy: string, undo?: string][] = [
  [
    'row-level security that is off',
    'alter table customers disable row level security',
    'Row-level security of public.customers is disabled, forced; the migrations make it enabled, forced.',
    `${RIGHTS}alter table public.customers enable row level security, force row level security;`,
  ],
  [
    'row-level security that spares the owner',
    'alter table packages no force row level security',
    'Row-level security of public.packages is enabled, not forced;',
    'force row level security;',
  ],
  [
    'a policy that shows everything',
    'create policy hole on couriers using (true)',
    'The policy hole on public.couriers is unknown to this version.',
    `${RIGHTS}drop policy hole on public.couriers;`,
  ],
  [
    'a policy for a single role',
    'create policy hole on prealerts for select to crossdock_app using (true)',
    'The policy hole on public.prealerts is unknown to this version.',
    'drop policy hole on public.prealerts;',
  ],
  [
    'a policy whose condition was changed',
    'alter policy staff_writes on carriers using (true)',
    'The policy staff_writes on public.carriers was changed to: as permissive for all to public using (true)',
    'create policy staff_writes on public.carriers as permissive for all to public using (((tenant_id = app_tenant())',
  ],
  [
    'a policy whose check was changed',
    'alter policy courier_scope on packages with check (true)',
    'The policy courier_scope on public.packages was changed to:',
    'create policy courier_scope on public.packages',
  ],
  [
    'a policy of other roles',
    'alter policy lookup_reads on prealerts to public',
    'The policy lookup_reads on public.prealerts was changed to: as permissive for select to public using (true).',
    'to crossdock_lookup using (true);',
  ],
  [
    'a policy that is missing',
    'drop policy tenant_reads on warehouses',
    'The policy tenant_reads on public.warehouses is missing.',
    `${RIGHTS}create policy tenant_reads on public.warehouses as permissive for select to public using (`,
  ],
  [
    'a trigger that is disabled',
    'alter table audit_entries disable trigger append_only',
    'The trigger append_only on public.audit_entries is disabled, not enabled.',
    `${RIGHTS}alter table public.audit_entries enable trigger append_only;`,
  ],
  [
    'a trigger that fires only on a replica',
    'alter table package_events enable replica trigger append_only',
    'The trigger append_only on public.package_events is replica only, not enabled.',
    'enable trigger append_only;',
  ],
  [
    'a trigger that is missing',
    'drop trigger keep_published on bills',
    'The trigger keep_published on public.bills is missing.',
    `${RIGHTS}CREATE TRIGGER keep_published BEFORE DELETE OR UPDATE ON`,
  ],
  [
    'a trigger that the migrations do not make',
    'create trigger spy before insert on users for each row execute function installation.refuse_unless_active()',
    'The trigger spy on public.users is unknown to this version.',
    'drop trigger spy on public.users;',
  ],
  [
    'references that are not checked',
    'alter table warehouses disable trigger all',
    'The triggers that check references on public.warehouses are disabled.',
    'alter table public.warehouses enable trigger all;',
  ],
  [
    'a rule that discards changes',
    'create rule silent as on update to users do instead nothing',
    'The rule silent on public.users is unknown to this version.',
    'drop rule silent on public.users;',
  ],
  [
    'a function whose body was changed',
    `create or replace function app_sees_all_couriers() returns boolean language sql stable parallel safe return true`,
    'The body of the function public.app_sees_all_couriers() was changed.',
    'Search for app_sees_all_couriers in prisma/migrations',
  ],
  [
    'a function that has the rights of its owner',
    'alter function app_tenant() security definer',
    'The function public.app_tenant() has security definer; the migrations make it security invoker.',
    'alter function public.app_tenant() security invoker.',
  ],
  [
    'a function that lost the rights of its owner',
    'alter function all_tenants() security invoker',
    'The function public.all_tenants() has security invoker set search_path=public, pg_temp;',
    'security definer set search_path=public, pg_temp.',
  ],
  [
    'a function whose search path was changed',
    'alter function tenants_at_host(text) set search_path = pg_temp, public',
    'has security definer set search_path=pg_temp, public;',
    'set search_path=public, pg_temp.',
  ],
  [
    'a function that belongs to another role',
    'alter function all_tenants() owner to postgres',
    'The owner of the function public.all_tenants() is postgres, not crossdock_lookup.',
    'alter function public.all_tenants() owner to crossdock_lookup;',
  ],
  [
    'a function that is missing',
    'drop function label_backlog()',
    'The function public.label_backlog() is missing.',
    'Search for label_backlog in prisma/migrations',
  ],
  [
    'an unknown function with the rights of its owner',
    `create function leak() returns bigint language sql security definer return (select count(*) from users)`,
    'The function public.leak() is unknown to this version, with security definer.',
    'drop function public.leak();',
  ],
  [
    'a right that is missing',
    'revoke insert on packages from crossdock_app',
    'The role crossdock_app lacks insert on public.packages.',
    `${RIGHTS}grant insert on public.packages to crossdock_app;`,
  ],
  [
    'a right that the service must not have',
    'grant truncate on audit_entries to crossdock_app',
    'The role crossdock_app has truncate on public.audit_entries, which the migrations do not grant.',
    `${RIGHTS}revoke truncate on public.audit_entries from crossdock_app;`,
  ],
  [
    'a right that it may pass on',
    'grant select on users to crossdock_app with grant option',
    'The role crossdock_app has select on public.users with grant option, which the migrations do not grant.',
    'revoke select on public.users from crossdock_app;',
  ],
  [
    'a right of everybody',
    'grant select on users to public',
    'Everybody has select on public.users, which the migrations do not grant.',
    'revoke select on public.users from public;',
  ],
  [
    'a right on one column',
    'grant update (slug) on tenants to crossdock_app',
    'The role crossdock_app has update (slug) on public.tenants, which the migrations do not grant.',
    'revoke update (slug) on public.tenants from crossdock_app;',
  ],
  [
    'a right on one column of the lookup role that is missing',
    'revoke select (status) on label_jobs from crossdock_lookup',
    'The role crossdock_lookup lacks select (status) on public.label_jobs.',
    'grant select (status) on public.label_jobs to crossdock_lookup;',
  ],
  [
    'a function that everybody may call',
    'grant execute on function all_tenants() to public',
    'Everybody has execute on function public.all_tenants(), which the migrations do not grant.',
    'revoke execute on function public.all_tenants() from public;',
  ],
  [
    'a schema in which the service may create objects',
    'grant create on schema public to crossdock_app',
    'The role crossdock_app has create on schema public, which the migrations do not grant.',
    'revoke create on schema public from crossdock_app;',
  ],
  [
    'a table of another owner',
    'alter table sessions owner to postgres',
    'The owner of the table public.sessions is postgres, not the owner of the other tables.',
    'alter table public.sessions owner to crossdock_owner;',
  ],
  [
    'a view with the rights of a superuser',
    'create view leaky as select * from users',
    'The view public.leaky is unknown to this version, and reads with the rights of postgres.',
    'Run as a superuser: drop view public.leaky;',
  ],
  [
    'a reference that is missing',
    'alter table packages drop constraint packages_tenant_id_warehouse_id_fkey',
    'The constraint packages_tenant_id_warehouse_id_fkey on public.packages is missing.',
    'alter table public.packages add constraint packages_tenant_id_warehouse_id_fkey FOREIGN KEY',
  ],
  [
    'a unique index that is missing',
    'drop index couriers_tenant_id_api_key_hash_key',
    'The unique index couriers_tenant_id_api_key_hash_key on public.couriers is missing.',
    'CREATE UNIQUE INDEX couriers_tenant_id_api_key_hash_key ON',
  ],
  [
    'a column that may be null',
    'alter table packages alter tracking_number drop not null',
    'The column public.packages.tracking_number is text; the migrations make it text not null.',
    'Search for tracking_number in prisma/migrations',
  ],
  [
    'a role that bypasses row-level security',
    'alter role crossdock_app bypassrls',
    'The role crossdock_app has bypassrls; the migrations give it no attributes.',
    'alter role crossdock_app nosuperuser nobypassrls',
    'alter role crossdock_app nobypassrls',
  ],
  [
    'a role that the login is a member of',
    'grant crossdock_lookup to crossdock_login',
    'The role crossdock_login is a member of crossdock_lookup.',
    'revoke crossdock_lookup from crossdock_login granted by postgres;',
    'revoke crossdock_lookup from crossdock_login',
  ],
  [
    'a role that the role of the service is a member of',
    'grant pg_read_all_data to crossdock_app',
    'The role crossdock_app is a member of pg_read_all_data.',
    'revoke pg_read_all_data from crossdock_app;',
    'revoke pg_read_all_data from crossdock_app',
  ],
  [
    'a login for which no trigger fires',
    'alter role crossdock_login set session_replication_role = replica',
    'session_replication_role is replica, so triggers and references are not checked.',
    'alter role crossdock_login reset session_replication_role;',
    'alter role crossdock_login reset session_replication_role',
  ],
];

describe('a start in production ends, and the doctor reports', () => {
  test('more than twenty kinds of differences', () => {
    expect(DANGEROUS.length).toBeGreaterThan(20);
  });

  test.each(DANGEROUS)(
    '%s',
    async (_title, statements, message, remedy, undo = '') => {
      const name = `copy_${copies + 1}`;
      const faults = await startAfter(statements);
      const reported = await examineCopy();
      if (undo) await server.query(undo, name);
      const named = faults.filter((line) => line.includes(message));
      expect([faults, named.length]).toEqual([faults, 1]);
      expect(named[0]).toContain(remedy);
      expect(reported.filter((line) => line.startsWith('problem') && line.includes(message))).toHaveLength(1);
      // Some cause a second one, for example triggers beside references.
      expect(faults.length).toBeLessThanOrEqual(4);
      for (const line of faults) expect(line).not.toContain('\n');
    },
    LIMIT_MS,
  );
});

describe('additions of an operator do not prevent a start, and the doctor mentions', () => {
  test.each([
    ['a table', 'create table reports (id int)', 'The table public.reports is unknown to this version.'],
    [
      'a role that reads',
      'create role reader_a; grant select on packages to reader_a',
      'The role reader_a has select on public.packages, which the migrations do not grant.',
    ],
    ['a column', 'alter table packages add extra text', 'The column public.packages.extra is unknown'],
    [
      'a function without the rights of its owner',
      'create function one() returns int language sql return 1',
      'The function public.one() is unknown to this version, with security invoker.',
    ],
  ])(
    '%s',
    async (_title, statements, message) => {
      expect(await startAfter(statements)).toEqual([]);
      expect(await examineCopy()).toEqual([expect.stringContaining(message)]);
    },
    LIMIT_MS,
  );

  test(
    'and an index, autovacuum settings and statistics are no difference',
    async () => {
      const statements = `create index extra on packages (received_at); alter table packages set (fillfactor = 90);
      analyze packages`;
      expect(await startAfter(statements)).toEqual([]);
      expect(await examineCopy()).toEqual([]);
    },
    LIMIT_MS,
  );
});

test.each(['src/main.js', 'src/worker.js'])(
  '%s ends with one line per difference, at most twenty of them',
  async (program) => {
    await startAfter(
      'alter table customers disable row level security; revoke insert on packages from crossdock_app',
    );
    const env = { ...SETTINGS, DATABASE_URL: server.urlOf(`copy_${copies}`, LOGIN), LOG_LEVEL: 'error' };
    const refused = run(program, env);
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    expect(refused.output().trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^The role crossdock_app lacks insert on public\.packages\. Run as the owner: /),
      expect.stringMatching(/^Row-level security of public\.customers is disabled/),
    ]);
    const many = await startAfter(
      'revoke all on all tables in schema public from crossdock_app; grant select on _prisma_migrations to crossdock_app',
    );
    expect(many).toHaveLength(21);
    expect(many.at(-1)).toMatch(/^\d+ more differences are listed by npm run doctor\.$/);
  },
  LIMIT_MS,
);

test(
  'in development a difference does not prevent the start',
  async () => {
    const config = readConfig({ APP_ENV: 'development', DATABASE_URL: server.urlOf('crossdock', OWNER) });
    const prepared = await prepareDatabase(config, () => undefined, true);
    expect(prepared.url).toContain('/crossdock');
    await prepared.stop();
    expect(prepared.assumeRole).toBe('crossdock_app');
  },
  LIMIT_MS,
);
