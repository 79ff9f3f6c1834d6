import { randomBytes } from 'node:crypto';
import bcrypt from 'bcrypt';
import pg from 'pg';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { DEMO, seedDemo } from '../../../fixtures/demo/seed.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { dropStatements, type TestDatabase } from '../service/database.js';
import { developmentConfig } from './development.js';
import { roleStatementsOfAnother } from './role-statements.js';

/** A database whose roles are those of docs/deploy.md: its owner is no superuser, and sees little of other roles' sessions. */
export type DocumentedDatabase = TestDatabase & {
  name: string;
  /** The names of the roles. */
  owner: string;
  login: string;
  /** The settings of a process, and with the owner those of an operator's command. */
  urls: { DATABASE_URL: string; DATABASE_OWNER_URL: string };
  /** A superuser's connection, for what a test plants and reads. */
  ownerUrl: string;
};

/**
 * Creates the database and its roles with the statements of deploy/postgres/roles.sql, migrated as docs/deploy.md describes. Most tests
 * need no migration of their own, which takes a second of CPU time: theirs is a copy of the first one of the run.
 *
 * @param options.isCopied whether it may be a copy
 */
export async function documentedDatabase({
  demo = false,
  isCopied = true,
} = {}): Promise<DocumentedDatabase> {
  const template = isCopied ? await findTemplate(demo) : undefined;
  const server = process.env['TEST_ADMIN_URL'] ?? '';
  const name = `${process.env['TEST_DATABASE_PREFIX']}d${randomBytes(5).toString('hex')}`;
  const [owner, login] = [`${name}_owner`, `${name}_login`];
  const urlOf = (username: string, password: string) =>
    Object.assign(new URL(server), { pathname: `/${name}`, username, password }).href;
  const urls = {
    DATABASE_URL: urlOf(login, 'login-password'),
    DATABASE_OWNER_URL: urlOf(owner, 'owner-password'),
  };
  const ownerUrl = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  await runAll(server, [
    // PostgreSQL rejects a second copy of a template while the first one still reads it.
    `select pg_advisory_lock(${COPYING})`,
    ...roleStatementsOfAnother(name).map((statement) =>
      template && statement.startsWith('create database')
        ? `${statement} template ${template} strategy file_copy`
        : statement,
    ),
  ]);
  if (template) {
    await runAll(ownerUrl, [handOver(owner)]);
    // As the first migration does.
    await runAll(urls.DATABASE_OWNER_URL, [`grant crossdock_app, crossdock_lookup to ${owner}`]);
  } else {
    await migrate(urls.DATABASE_OWNER_URL, MIGRATIONS);
    if (demo) await addDemoData(urls.DATABASE_OWNER_URL);
  }
  await runAll(server, [`alter role ${owner} nocreaterole`]);
  const drop = () => runAll(server, [...dropStatements(name), `drop role ${login}`, `drop role ${owner}`]);
  return { name, owner, login, urls, ownerUrl, drop };
}

/** Keys of advisory locks. */
const COPYING = 4711;
const MAKING = 4712;

/** Returns the name of the template of this run, after it has made it if there is none. */
async function findTemplate(demo: boolean): Promise<string> {
  const server = process.env['TEST_ADMIN_URL'] ?? '';
  const template = `${process.env['TEST_DATABASE_PREFIX']}documented${demo ? '_demo' : ''}`;
  await withClient(server, async (client) => {
    // Other jest workers wait for the one that makes it.
    await client.query(`select pg_advisory_lock(${MAKING})`);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [template]);
    if (rowCount === 1) return;
    const { name, owner, login } = await documentedDatabase({ demo, isCopied: false });
    // Without a database, a login and memberships, its owner is nothing that a check of another database finds.
    await runAll(server, [
      `alter database ${name} owner to current_user`,
      `revoke all on database ${name} from ${login}`,
      `drop role ${login}`,
      `revoke crossdock_app, crossdock_lookup from ${owner} cascade`,
      `alter role ${owner} nologin`,
      `alter database ${name} rename to ${template}`,
    ]);
  });
  return template;
}

/** Returns a statement that gives everything of the owner of a template to the owner of its copy. */
const handOver = (owner: string) => `do $$
  declare
    former name := (select tableowner from pg_tables where schemaname = 'public' and tablename = 'tenants');
    policy record;
  begin
    execute format('reassign owned by %I to ${owner}', former);
    for policy in select polname, polrelid::regclass as on_table from pg_policy where former::regrole = any(polroles) loop
      execute format('alter policy %I on %s to ${owner}', policy.polname, policy.on_table);
    end loop;
  end $$`;

async function runAll(url: string, statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The data of `demoDatabase`. */
async function addDemoData(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await seedDemo(client, openSecrets(developmentConfig({}).secrets), new Date());
    await client.query('update users set password_hash = $1', [await bcrypt.hash(DEMO.password, 4)]);
  } finally {
    await client.end();
  }
}
