import { randomBytes } from 'node:crypto';
import pg from 'pg';

export type TestDatabase = { ownerUrl: string; drop(): Promise<void> };

/** A database of this test file's own: migrated, with nothing in it. */
export const freshDatabase = (): Promise<TestDatabase> => cloneDatabase('empty');

/** The same with the demo data loaded. */
export const demoDatabase = (): Promise<TestDatabase> => cloneDatabase('demo');

async function cloneDatabase(template: string): Promise<TestDatabase> {
  const prefix = setting('TEST_DATABASE_PREFIX');
  const name = prefix + randomBytes(6).toString('hex');
  await asAdmin(async (admin) => {
    // two workers cloning one template at once: PostgreSQL refuses the second while the first still reads it
    await admin.query('select pg_advisory_lock(4711)');
    await admin.query(`create database "${name}" template "${prefix}${template}"`);
  });
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return {
    ownerUrl: url.href,
    drop: () => asAdmin((admin) => admin.query(`drop database if exists "${name}" with (force)`)),
  };
}

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

/** What the global set-up left in the environment for its workers. */
function setting(name: 'TEST_ADMIN_URL' | 'TEST_DATABASE_PREFIX'): string {
  const value = process.env[name];
  if (!value) throw new Error('Run the tests with npm test: its set-up starts the database server.');
  return value;
}
