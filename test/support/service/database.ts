import { randomBytes } from 'node:crypto';
import pg from 'pg';

export type TestDatabase = { ownerUrl: string; drop(): Promise<void> };

/** Creates a migrated database without rows. Each test file has its own. */
export const freshDatabase = (): Promise<TestDatabase> => cloneDatabase('empty');

/** Creates a migrated database with the demo data. */
export const demoDatabase = (): Promise<TestDatabase> => cloneDatabase('demo');

async function cloneDatabase(template: string): Promise<TestDatabase> {
  const prefix = setting('TEST_DATABASE_PREFIX');
  const name = prefix + randomBytes(6).toString('hex');
  await asAdmin(async (admin) => {
    // PostgreSQL rejects a second clone of a template while the first one still reads it.
    await admin.query('select pg_advisory_lock(4711)');
    // Copying files takes half the CPU time of writing the copy to the log.
    await admin.query(`create database "${name}" template "${prefix}${template}" strategy file_copy`);
  });
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return {
    ownerUrl: url.href,
    drop: () =>
      asAdmin(async (admin) => {
        for (const statement of dropStatements(name)) await admin.query(statement);
      }),
  };
}

/**
 * Lets nobody but the login and superusers connect to the database. Other test files make logins of other deployments on this
 * server, and a start in production refuses a database that they may connect to.
 */
export const admitOnly = (ownerUrl: string, login: string): Promise<void> =>
  asAdmin((admin) => {
    const name = new URL(ownerUrl).pathname.slice(1);
    return admin.query(
      `grant connect, temporary on database "${name}" to ${login}; revoke all on database "${name}" from public`,
    );
  });

/** Returns the statements that drop a database when its clients have left it. */
export const dropStatements = (name: string): string[] => [
  waitUntilUnused(name),
  `drop database if exists "${name}" with (force)`,
];

/**
 * Returns a statement that waits for up to two seconds until no client is connected. Connections that were just closed may
 * still be open at the server. If the server ended them, their clients would report an error that no test awaits.
 */
const waitUntilUnused = (name: string) => `do $$
  begin
    for n in 1..200 loop
      exit when not exists (
        select from pg_stat_activity where datname = '${name}' and backend_type = 'client backend');
      perform pg_sleep(0.01);
      perform pg_stat_clear_snapshot();
    end loop;
  end $$`;

async function asAdmin(work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl() });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

const adminUrl = () => setting('TEST_ADMIN_URL');

/** Returns a setting that the global set-up passes to the jest workers in the environment. */
function setting(name: 'TEST_ADMIN_URL' | 'TEST_DATABASE_PREFIX'): string {
  const value = process.env[name];
  if (!value) throw new Error('Run the tests with npm test: its set-up starts the database server.');
  return value;
}
