import { randomBytes } from 'node:crypto';
import bcrypt from 'bcrypt';
import pg from 'pg';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import { DEMO, seedDemo } from '../../../fixtures/demo/seed.js';
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

/** Creates the database and its roles with the statements of deploy/postgres/roles.sql, and migrates it as docs/deploy.md describes. */
export async function documentedDatabase({ demo = false } = {}): Promise<DocumentedDatabase> {
  const server = process.env['TEST_ADMIN_URL'] ?? '';
  const name = `${process.env['TEST_DATABASE_PREFIX']}d${randomBytes(5).toString('hex')}`;
  const [owner, login] = [`${name}_owner`, `${name}_login`];
  const urlOf = (username: string, password: string) =>
    Object.assign(new URL(server), { pathname: `/${name}`, username, password }).href;
  const urls = { DATABASE_URL: urlOf(login, 'login'), DATABASE_OWNER_URL: urlOf(owner, 'owner') };
  const ownerUrl = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  await runAll(server, roleStatementsOfAnother(name));
  await migrate(urls.DATABASE_OWNER_URL, MIGRATIONS);
  await runAll(server, [`alter role ${owner} nocreaterole`]);
  if (demo) await addDemoData(urls.DATABASE_OWNER_URL);
  const drop = () => runAll(server, [...dropStatements(name), `drop role ${login}`, `drop role ${owner}`]);
  return { name, owner, login, urls, ownerUrl, drop };
}

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
