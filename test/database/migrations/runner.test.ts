import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { LOCK_LIMITS } from '../../../src/platform/db/migrations/lock-retries.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS, readMigrations } from '../../../src/platform/db/migrations/migration-files.js';
import { plantIn, plantMigrations } from '../../support/migrations/planted.js';
import { openSchemaEngine } from '../../support/migrations/schema-engine.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { removeFolders, until } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;
const NAME = '20990101000000_planted';
const LIMITS = { lockTimeoutMs: 200, giveUpAfterMs: 30_000, maxPauseMs: 50 };

let database: TestDatabase;
let owner: pg.Pool;

beforeEach(async () => {
  database = await freshDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 4 });
  owner.on('error', () => undefined);
});

afterEach(async () => {
  await owner.end();
  await database.drop();
  await removeFolders();
});

/** Runs `work` while another transaction reads a table. */
async function whileRead(table: string, work: (end: () => Promise<unknown>) => Promise<void>): Promise<void> {
  const reader = await owner.connect();
  await reader.query(`begin; lock table ${table} in access share mode`);
  try {
    await work(() => reader.query('rollback'));
  } finally {
    reader.release(true);
  }
}

const columnExists = async () =>
  (await owner.query("select from pg_attribute where attrelid = 'carriers'::regclass and attname = 'extra'"))
    .rowCount === 1;

test(
  'a migration that waits for a lock lets requests pass, tries again and succeeds',
  async () => {
    const folder = await plantMigrations({ name: NAME, script: 'alter table carriers add extra text' });
    const lines: string[] = [];
    await whileRead('carriers', async (end) => {
      const migrating = migrate(database.ownerUrl, folder, {
        limits: LIMITS,
        log: (line) => lines.push(line),
      });
      await until(async () => lines.length >= 2);
      // This request queues behind the migration for 0.2 s at most. Without a lock timeout it would wait until the reader ends.
      const startMs = performance.now();
      await owner.query('select from carriers');
      expect(performance.now() - startMs).toBeLessThan(5_000);
      await end();
      expect(await migrating).toEqual([NAME]);
    });
    expect(lines[0]).toBe(`${NAME} waits for the locks of running transactions and tries again.`);
    expect(await columnExists()).toBe(true);
    expect(LOCK_LIMITS.lockTimeoutMs).toBeLessThanOrEqual(1_000);
  },
  LIMIT_MS,
);

test(
  'a migration that never gets its lock fails and leaves nothing, and a later run applies it',
  async () => {
    const folder = await plantMigrations({
      name: NAME,
      script: 'create table early (id int); alter table carriers add extra text',
    });
    await whileRead('carriers', async () => {
      const limits = { ...LIMITS, giveUpAfterMs: 300 };
      await expect(migrate(database.ownerUrl, folder, { limits })).rejects.toThrow(/lock timeout/);
    });
    expect((await owner.query("select to_regclass('early') as found")).rows).toEqual([{ found: null }]);
    expect(await migrate(database.ownerUrl, folder)).toEqual([NAME]);
    expect(await columnExists()).toBe(true);
  },
  LIMIT_MS,
);

test(
  'a script that fails is rolled back with its record, and is applied when it is corrected',
  async () => {
    const folder = await plantMigrations({ name: NAME, script: 'create table early (id int); select 1 / 0' });
    await expect(migrate(database.ownerUrl, folder)).rejects.toThrow('division by zero');
    expect((await owner.query("select to_regclass('early') as found")).rows).toEqual([{ found: null }]);
    await plantIn(folder, { name: NAME, script: 'create table early (id int)' });
    expect(await migrate(database.ownerUrl, folder)).toEqual([NAME]);
  },
  LIMIT_MS,
);

test(
  'an index that failed to build is dropped and built again, while a transaction writes the table',
  async () => {
    const folder = await plantMigrations({
      name: NAME,
      script: 'create unique index concurrently if not exists planted_key on planted (id);',
    });
    await owner.query('create table planted (id int)');
    await owner.query('insert into planted values (1), (1)');
    await expect(migrate(database.ownerUrl, folder)).rejects.toThrow('could not create unique index');
    const isValid = "select indisvalid from pg_index where indexrelid = 'planted_key'::regclass";
    expect((await owner.query(isValid)).rows).toEqual([{ indisvalid: false }]);

    await owner.query('truncate planted');
    const writer = await owner.connect();
    await writer.query('begin; insert into planted values (2)');
    const migrating = migrate(database.ownerUrl, folder, { limits: LIMITS });
    // Longer than the lock timeout, which must not apply to an index that is built concurrently.
    await until(async () => {
      const { rowCount } = await owner.query(
        "select from pg_stat_activity where datname = current_database() and query ~ '^(create unique|drop) index concurrently' and clock_timestamp() - query_start > '0.5 s'",
      );
      return rowCount === 1;
    });
    await writer.query('commit');
    writer.release();
    expect(await migrating).toEqual([NAME]);
    expect((await owner.query(isValid)).rows).toEqual([{ indisvalid: true }]);
  },
  LIMIT_MS,
);

test(
  'of three replicas that start at once, one builds an index concurrently and the others wait',
  async () => {
    const folder = await plantMigrations({
      name: NAME,
      script: 'create index concurrently if not exists planted_at on carriers (name);',
    });
    const results = await Promise.all([1, 2, 3].map(() => migrate(database.ownerUrl, folder)));
    expect(results.filter((applied) => applied.length > 0)).toEqual([[NAME]]);
  },
  LIMIT_MS,
);

test(
  "Prisma's own engine finds nothing to apply",
  async () => {
    const migrations = await readMigrations(MIGRATIONS);
    const { engine, close } = await openSchemaEngine(database.ownerUrl);
    try {
      const content = await readFile(join(MIGRATIONS, 'migration_lock.toml'), 'utf8');
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: {
          baseDir: MIGRATIONS,
          lockfile: { path: 'migration_lock.toml', content },
          shadowDbInitScript: '',
          migrationDirectories: migrations.map(({ name, script }) => ({
            path: name,
            migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
          })),
        },
        filters: { externalTables: [], externalEnums: [] },
      });
      expect(appliedMigrationNames).toEqual([]);
    } finally {
      await close();
    }
  },
  LIMIT_MS,
);

test(
  'a migration that an earlier version left unfinished stops the next one',
  async () => {
    const folder = await plantMigrations({ name: NAME, script: 'select 1' });
    await owner.query("update _prisma_migrations set finished_at = null where migration_name like '%_bills'");
    await expect(migrate(database.ownerUrl, folder)).rejects.toThrow(/_bills began and did not finish/);
  },
  LIMIT_MS,
);

const WRONG_NAMES = [
  '9_short',
  '20271301000000_month',
  '20270231000000_february',
  '20270101240000_hour',
  '20270101006000_minute',
  '20990101000000',
  '20990101000000_',
  '20990101000000_With_Capitals',
  '20990101000000-dashes',
  '209901010000000_digits',
  'zz_notes',
  'copy of 20990101000000_notes',
];

test(
  'a folder whose name is no name of a migration is refused in one line, and nothing is applied',
  async () => {
    const good = { name: NAME, script: 'create table early (id int)' };
    for (const name of WRONG_NAMES) {
      const folder = await plantMigrations(good, { name, script: 'create table late (id int)' });
      const refused = await migrate(database.ownerUrl, folder).catch((error: unknown) => error);
      expect(refused).toEqual(
        new Error(
          `${name} is not the name of a migration. Rename the folder to the time in UTC and a title, for example ` +
            '20270131094500_courier_notes. Nothing is applied.',
        ),
      );
    }
    expect((await owner.query("select to_regclass('early') as found")).rows).toEqual([{ found: null }]);
  },
  LIMIT_MS,
);

test(
  'a migration without a header, or without a script, is refused in one line that names its folder',
  async () => {
    const headers = ['select 1', '-- upgrade: sometimes\nselect 1', '-- Upgrade: rolling\nselect 1'];
    for (const script of headers) {
      const folder = await plantMigrations({ name: NAME, script, isBare: true });
      await expect(migrate(database.ownerUrl, folder)).rejects.toThrow(
        /^20990101000000_planted has no header. Begin its migration.sql with one of "-- upgrade: rolling", .*docs\/migrations.md/,
      );
    }
    const folder = await plantMigrations();
    await mkdir(join(folder, NAME));
    await expect(migrate(database.ownerUrl, folder)).rejects.toThrow(
      `The migration ${NAME} has no readable migration.sql. Write it, or remove the folder.`,
    );
  },
  LIMIT_MS,
);
