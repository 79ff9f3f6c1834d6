import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { hostname } from 'node:os';
import pg from 'pg';
import { surveyConfig } from '../../../src/config/config.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { checkMigrations } from '../../../src/startup/doctor/checks/migrations.js';
import type { Connected } from '../../../src/startup/doctor/checks/subject.js';
import { plantMigrations } from '../../support/migrations/planted.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { endProcesses, removeFolders, run, until } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;
const NAME = '20990101000000_planted';

let database: TestDatabase;
let owner: pg.Client;

beforeEach(async () => {
  database = await freshDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  owner.on('error', () => undefined);
  await owner.connect();
});

afterEach(async () => {
  await endProcesses();
  await owner.end();
  await database.drop();
  await removeFolders();
}, LIMIT_MS);

/** Runs `work` while another migration hangs in its script. */
async function whileOneHangs(work: () => Promise<void>): Promise<void> {
  const folder = await plantMigrations({ name: NAME, script: 'select pg_sleep(600) as hangs' });
  const hanging = migrate(database.ownerUrl, folder).catch((error: unknown) => error);
  await until(async () => (await runningScripts()).length === 1);
  try {
    await work();
  } finally {
    for (const pid of await runningScripts()) await owner.query('select pg_terminate_backend($1)', [pid]);
    await hanging;
  }
}

async function runningScripts(): Promise<number[]> {
  const { rows } = await owner.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and query like '%select pg_sleep(600) as hangs' and pid <> pg_backend_pid() and state = 'active'",
  );
  return rows.map(({ pid }) => pid);
}

const HOLDER = new RegExp(
  `PostgreSQL backend \\d+ and \\d+, application crossdock migrate ${process.pid} on ${hostname().slice(0, 20)}\\S*, role \\w+, ` +
    'from 127\\.0\\.0\\.1, connected since 20\\S+Z, statement: -- upgrade: rolling select pg_sleep\\(600\\) as hangs',
);

test(
  'npm run migrate ends after the limit with one line that names the migration that runs, and how to end it',
  async () => {
    await whileOneHangs(async () => {
      const startMs = performance.now();
      const waiting = run('src/commands/migrate.js', {
        DATABASE_OWNER_URL: database.ownerUrl,
        MIGRATION_WAIT_SECONDS: '1',
      });
      expect(await waiting.ended).toEqual({ code: 1, signal: null });
      expect(performance.now() - startMs).toBeGreaterThan(1_000);
      const [announced, refused, end] = waiting.output().split('\n');
      expect(announced).toMatch(/^Waiting up to 1 s for another migration: /);
      expect(announced).toMatch(HOLDER);
      expect(refused).toMatch(/^Another migration still runs after 1 s: /);
      expect(refused).toMatch(HOLDER);
      expect(refused).toMatch(
        /run as its role select pg_terminate_backend\(\d+\), pg_terminate_backend\(\d+\);/,
      );
      expect(end).toBe('');
    });
  },
  LIMIT_MS,
);

test(
  'a start with the connection of the owner ends in the same way, and the doctor names the migration',
  async () => {
    await whileOneHangs(async () => {
      const refused = run('src/main.js', { DATABASE_URL: database.ownerUrl, MIGRATION_WAIT_SECONDS: '0' });
      expect(await refused.ended).toEqual({ code: 1, signal: null });
      expect(refused.output()).toMatch(/^Another migration still runs after 0 s: [^\n]+\n$/);
      const { config } = surveyConfig({ APP_ENV: 'development', DATABASE_URL: database.ownerUrl });
      // The check uses only these.
      const subject = { client: owner, config } as unknown as Connected;
      expect(await checkMigrations(subject)).toEqual([
        {
          level: 'warning',
          message: expect.stringMatching(HOLDER),
          remedy: expect.stringMatching(/^Let it finish, .*pg_terminate_backend/),
        },
      ]);
    });
  },
  LIMIT_MS,
);

test(
  'the remedy works: after the connections of the migration that hangs were ended, the next one applies it',
  async () => {
    const folder = await plantMigrations({ name: NAME, script: 'select 1' });
    await whileOneHangs(async () => {
      const refusal = await migrate(database.ownerUrl, folder, { waitSeconds: 0 }).catch(String);
      const [statement = ''] = /select pg_terminate_backend[^;]+/.exec(String(refusal)) ?? [];
      await owner.query(statement);
      expect(await migrate(database.ownerUrl, folder, { waitSeconds: 30 })).toEqual([NAME]);
    });
  },
  LIMIT_MS,
);

test('a migration waits for one that finishes within the limit', async () => {
  const folder = await plantMigrations({ name: NAME, script: 'select pg_sleep(0.5)' });
  const both = [1, 2].map(() => migrate(database.ownerUrl, folder, { waitSeconds: 30 }));
  expect((await Promise.all(both)).filter(({ length }) => length > 0)).toEqual([[NAME]]);
});

test('an error in a script names the migration', async () => {
  const folder = await plantMigrations({
    name: NAME,
    script: 'create statistics customers_of_courier (dependencies) on tenant_id, courier_id from customers',
  });
  await expect(migrate(database.ownerUrl, folder)).rejects.toThrow(
    `The migration ${NAME} failed: statistics object "customers_of_courier" already exists. Nothing of it is applied, and the migrations before it are.`,
  );
});

test('a pending migration that sorts before an applied one is refused, and nothing is applied', async () => {
  const folder = await plantMigrations(
    { name: '20261125235959_early', script: 'create table early (id int)' },
    { name: NAME, script: 'create table late (id int)' },
  );
  await expect(migrate(database.ownerUrl, folder)).rejects.toThrow(
    /^20261125235959_early sorts before 2026\S+, which is applied, so nothing is applied\. If a branch has added it, rename/,
  );
  const { rows } = await owner.query("select to_regclass('early') as early, to_regclass('late') as late");
  expect(rows).toEqual([{ early: null, late: null }]);
});
