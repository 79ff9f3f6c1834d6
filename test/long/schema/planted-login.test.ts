import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigError, readConfig } from '../../../src/config/config.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { checkLogin } from '../../../src/platform/db/login-check/check-login.js';
import { checkRights } from '../../../src/startup/doctor/checks/rights.js';
import { checkProtections } from '../../../src/startup/doctor/checks.js';
import { prepareDatabase } from '../../../src/startup/prepare-database.js';
import { DEBIAN, startDebianServer } from '../../support/rehearsal/debian-server.js';
import { rounds } from '../../support/harness/effort.js';
import { titleWith } from '../../support/harness/programs.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';
import { startOwnServer } from '../../support/service/postgres.js';
import { roleStatements } from '../../support/staging/role-statements.js';

// The login of the service has a right too many, or another deployment may connect. Each remedy is run as it was printed, and the start
// works afterwards.

const LIMIT_MS = 60_000;
const OWNER = { user: 'crossdock_owner', password: 'owner-password' };
const LOGIN = { user: 'crossdock_login', password: 'login-password' };
const SETTINGS = {
  APP_ENV: 'staging',
  TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
  ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
  LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
  TRUST_PROXY: '127.0.0.1',
};

const SERVERS = [
  { title: 'the embedded server', missing: undefined, start: () => startOwnServer() },
  {
    title: `the server in ${DEBIAN ?? '/usr/lib/postgresql'}`,
    missing: DEBIAN ? undefined : 'a PostgreSQL server of Debian',
    start: async () => startDebianServer(DEBIAN ?? '', await makeFolder()),
  },
];

/** In a default run, the servers that are there share the statements. In test:long, each has all of them. */
function shareOf(title: string): typeof PLANTED {
  const servers = SERVERS.filter(({ missing }) => !missing);
  const own = servers.findIndex((server) => server.title === title);
  return PLANTED.filter(
    (_, n) => own < 0 || n % rounds(servers.length, 1) === own % rounds(servers.length, 1),
  );
}

/** A second deployment, whose login is a member of the same role and may connect to its own database. */
const OTHER = `create role other_owner login password 'x' in role crossdock_lookup;
  create role other_login login password 'x' in role crossdock_app`;

/** Statements of a superuser, what the lines say, and statements that undo what the remedies leave. */
const PLANTED: [title: string, statements: string, messages: string[], undo?: string][] = [
  ['createrole', 'alter role crossdock_login createrole', ['crossdock_login has the attribute createrole.']],
  ['createdb', 'alter role crossdock_login createdb', ['has the attribute createdb.']],
  ['replication', 'alter role crossdock_login replication', ['has the attribute replication.']],
  ['bypassrls', 'alter role crossdock_login bypassrls', ['has the attribute bypassrls.', 'could|must not']],
  ['superuser', 'alter role crossdock_login superuser', ['has the attribute superuser.', 'could|must not']],
  [
    'programs of the server',
    'grant pg_execute_server_program to crossdock_login',
    ['crossdock_login is a member of pg_execute_server_program.'],
  ],
  ['files of the server', 'grant pg_read_server_files to crossdock_login', ['pg_read_server_files.']],
  ['all rows', 'grant pg_read_all_data to crossdock_login', ['is a member of pg_read_all_data.']],
  [
    'the owner',
    'grant crossdock_owner to crossdock_login',
    ['is a member of crossdock_owner.', 'could|must not'],
  ],
  [
    'a membership that the owner granted',
    'set role crossdock_owner; grant crossdock_lookup to crossdock_login; reset role',
    ['is a member of crossdock_lookup.'],
  ],
  [
    'a group beside crossdock_app',
    'create role "A group"; grant "A group" to crossdock_login',
    ['is a member of A group.'],
    'drop role "A group"',
  ],
  [
    'a group instead of crossdock_app',
    'create role middle in role crossdock_app; grant middle to crossdock_login; revoke crossdock_app from crossdock_login',
    ['is a member of middle.'],
    'drop role middle',
  ],
  [
    'the right to pass on crossdock_app',
    'grant crossdock_app to crossdock_login with admin option',
    ['crossdock_login may grant crossdock_app to other roles.'],
  ],
  [
    'a search path of the role',
    'create schema evil; grant usage on schema evil to public; alter role crossdock_login set search_path = evil, public',
    ['The schemas that search_path names are pg_catalog, evil, public'],
  ],
  [
    'a search path of the database',
    'create schema evil; grant usage on schema evil to public; alter database DB set search_path = evil, public',
    ['The schemas that search_path names'],
  ],
  [
    'a search path with public before the catalogue',
    'alter role crossdock_login in database DB set search_path = public, pg_catalog',
    ['The schemas that search_path names are public, pg_catalog'],
  ],
  [
    'a schema with the name of the login',
    'create schema crossdock_login; grant usage on schema crossdock_login to public',
    ['The schemas that search_path names are pg_catalog, crossdock_login, public'],
    'alter role crossdock_login in database DB reset search_path',
  ],
  [
    'a search path of every role',
    'create schema evil; grant usage on schema evil to public; alter role all set search_path = evil, public',
    ['The schemas that search_path names'],
  ],
  [
    'triggers that do not fire',
    'alter database DB set session_replication_role = replica',
    ['session_replication_role is replica'],
  ],
  ['row_security', 'alter role crossdock_login set row_security = off', ['row_security is off']],
  [
    'a role to switch to',
    'alter role crossdock_login set role = crossdock_app',
    ['role is crossdock_app, so the service has the rights of that role.'],
  ],
  [
    'a setting of the policies',
    "alter role crossdock_login set app.tenant_id = 'x'",
    ['The setting app.tenant_id = x'],
  ],
  [
    'how backslashes are read',
    'alter database DB set standard_conforming_strings = off',
    ['The setting standard_conforming_strings = off'],
  ],
  [
    'rights on the audit log',
    'grant truncate, update, delete on audit_entries, audit_links to crossdock_login',
    ['rights on table public.audit_entries', 'rights on table public.audit_links'],
  ],
  [
    'a right on a column',
    'grant update (slug) on tenants to crossdock_login',
    ['rights on table public.tenants'],
  ],
  ['a schema', 'grant create on schema public to crossdock_login', ['rights on schema public']],
  [
    'a function of the server',
    'grant execute on function pg_read_file(text) to crossdock_login',
    ['rights on function pg_catalog.pg_read_file(pg_catalog.text)'],
  ],
  [
    'a function of the server for the role of the service',
    'grant execute on function pg_read_file(text) to crossdock_app',
    ['crossdock_app has rights on function pg_catalog.pg_read_file(pg_catalog.text)'],
  ],
  [
    'a parameter',
    'grant set on parameter session_replication_role to crossdock_login',
    ['rights on parameter ACL session_replication_role'],
  ],
  [
    'tables that do not exist yet',
    'alter default privileges for role crossdock_owner in schema public grant all on tables to crossdock_login',
    ['rights on default acl for role crossdock_owner in schema public on tables'],
  ],
  [
    'a database in which it may create schemas',
    'grant create on database DB to crossdock_login',
    ['has create on database'],
  ],
  [
    'CONNECT that it may pass on',
    'grant connect on database DB to crossdock_login with grant option',
    ['has connect on database copy_\\d+ with grant option'],
  ],
  [
    'a table of its own',
    'create schema own; create table own.notes (id int); alter table own.notes owner to crossdock_login',
    ['crossdock_login owns the table own.notes.'],
  ],
  ['a database of its own', 'alter database DB owner to crossdock_login', ['owns the database copy_']],
  [
    'a function for everybody',
    'grant execute on function pg_read_file(text) to public',
    ['Everybody has execute'],
  ],
  [
    'passwords for everybody',
    'grant select on pg_authid to public',
    ['Everybody has rights on table pg_authid'],
  ],
  [
    'a parameter for everybody',
    'grant set on parameter log_statement to public',
    ['rights on parameter log_statement'],
  ],
  ['schemas by everybody', 'grant create on database DB to public', ['Everybody has create on database']],
  [
    'the queue for everybody',
    'grant usage on schema graphile_worker to public; grant select on all tables in schema graphile_worker to public',
    ['Everybody has rights on the schema graphile_worker.'],
  ],
  [
    'everybody may connect, and another deployment exists',
    `${OTHER}; create database other owner other_owner; grant connect on database other to other_login;
     grant connect on database DB to public`,
    ['other_login of another deployment may connect', 'other_owner of another deployment may connect'],
    'drop database other; drop role other_owner; drop role other_login',
  ],
  [
    'the login of another deployment may connect',
    `${OTHER}; create database other owner other_owner; grant connect on database other to other_login;
     grant connect on database DB to other_login`,
    ['other_login of another deployment may connect'],
    'drop database other; drop role other_owner; drop role other_login',
  ],
];

afterAll(removeFolders, LIMIT_MS);

describe.each(SERVERS)('$title', ({ title, missing, start }) => {
  let server: Awaited<ReturnType<typeof start>> | undefined;
  let copies = 0;

  const urlOf = (name: string, login = LOGIN) => server?.urlOf(name, login) ?? '';

  /** Runs statements one by one, because some may not be in a transaction. SET ROLE needs one connection. */
  async function runAll(name: string, statements: string): Promise<void> {
    await withClient(server?.urlOf(name) ?? '', async (client) => {
      for (const statement of statements.replaceAll('DB', name).split(';'))
        if (statement.trim()) await client.query(statement);
    });
  }

  async function makeCopy(): Promise<string> {
    copies += 1;
    const name = `copy_${copies}`;
    await runAll(
      'postgres',
      `create database ${name} template crossdock owner crossdock_owner strategy file_copy;
       grant connect, temporary on database ${name} to crossdock_login; revoke all on database ${name} from public`,
    );
    return name;
  }

  async function startOn(name: string): Promise<string[]> {
    try {
      const config = readConfig({ ...SETTINGS, DATABASE_URL: urlOf(name) });
      const prepared = await prepareDatabase(config, () => undefined, true);
      await prepared.stop();
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
  }

  const examine = (name: string) =>
    withClient(urlOf(name), async (client) => {
      const config = readConfig({ ...SETTINGS, DATABASE_URL: urlOf(name) });
      const rights = await checkRights({ client, config, url: urlOf(name) });
      return [...rights, ...(await checkProtections({ client }))].flatMap((finding) =>
        finding.level === 'ok' ? [] : [finding],
      );
    });

  beforeAll(async () => {
    if (missing) return;
    server = await start();
    for (const statement of roleStatements()) await server.query(statement);
    await migrate(server.urlOf('crossdock', OWNER), MIGRATIONS);
  }, LIMIT_MS);

  afterAll(async () => {
    await server?.stop();
  }, LIMIT_MS);

  (missing ? test.skip : test).each(shareOf(title))(
    titleWith('%s', [missing]),
    async (_title, statements, messages, undo = '') => {
      const name = await makeCopy();
      try {
        await runAll(name, statements);
        const [faults, found] = [await startOn(name), await examine(name)];
        for (const message of messages) {
          expect(faults).toContainEqual(expect.stringMatching(pattern(message)));
          expect(found).toContainEqual(
            expect.objectContaining({ level: 'problem', message: expect.stringMatching(pattern(message)) }),
          );
        }
        expect([faults, faults.length]).toEqual([faults, messages.length]);
        for (const { remedy } of found) {
          const [, repair = ''] = /^Run as (?:a superuser|the owner): (.*;)$/.exec(remedy) ?? [];
          await runAll(name, repair);
        }
        expect([await startOn(name), await examine(name)]).toEqual([[], []]);
      } finally {
        await runAll(name, undo);
      }
    },
    LIMIT_MS,
  );

  (missing ? test.skip : test)(
    titleWith('a session of a pooler that began before a setting: the setting is found nevertheless', [
      missing,
    ]),
    async () => {
      const name = await makeCopy();
      try {
        await withClient(urlOf(name), async (client) => {
          const login = async () => (await checkLogin(client)).map(({ message }) => message);
          expect(await login()).toEqual([]);
          await runAll(name, 'alter role crossdock_login set row_security = off');
          expect(await login()).toEqual([expect.stringMatching(/^row_security is off/)]);
          // The setting of the role in the database is stronger.
          await runAll(name, 'alter role crossdock_login in database DB set row_security = 1');
          expect(await login()).toEqual([]);
        });
      } finally {
        await runAll(
          name,
          'alter role crossdock_login reset all; alter role crossdock_login in database DB reset all',
        );
      }
    },
    LIMIT_MS,
  );

  (missing ? test.skip : test)(
    titleWith('everybody may connect, without another deployment: only the doctor reports it', [missing]),
    async () => {
      const name = await makeCopy();
      await runAll(
        name,
        'grant connect on database DB to public; revoke connect on database DB from crossdock_login',
      );
      expect(await startOn(name)).toEqual([]);
      const [finding, ...more] = await examine(name);
      expect(more).toEqual([]);
      expect(finding?.level).toBe('problem');
      await runAll(name, finding?.remedy.replace('Run as a superuser: ', '') ?? '');
      expect([await startOn(name), await examine(name)]).toEqual([[], []]);
    },
    LIMIT_MS,
  );

  (missing ? test.skip : test)(
    titleWith('settings that change nothing prevent no start', [missing]),
    async () => {
      const name = await makeCopy();
      await runAll(
        name,
        `alter database DB set work_mem = '8MB'; alter database DB set timezone = 'UTC'; alter database DB set search_path = public;
         alter database DB set log_statement = 'none'; alter database DB set idle_in_transaction_session_timeout = '1min'`,
      );
      expect([await startOn(name), await examine(name)]).toEqual([[], []]);
    },
    LIMIT_MS,
  );
});

/** Dots are dots. A digit or an alternative is written as in an expression. */
const pattern = (message: string): RegExp => new RegExp(message.replace(/[.()=]/g, '\\$&'));
