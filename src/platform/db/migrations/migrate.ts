import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';
import { installQueue } from './install-queue.js';
import { assertDirect } from '../connections/pooler.js';
import { withClient } from '../connections/roles.js';
import { openSchemaEngine } from './schema-engine.js';

// An arbitrary key, the same in every replica.
const MIGRATION_LOCK = 7_203_114;

/**
 * Applies the pending migrations in `folder`, and those of the job queue's library. Returns the names of the applied
 * migrations. Replicas may call it concurrently: an advisory lock lets one replica migrate while the others wait.
 *
 * @param url the schema owner's connection
 * @throws when a migration fails; PostgreSQL has then rolled back that migration completely
 */
export async function migrate(url: string, folder: string): Promise<string[]> {
  await assertDirect('The URL of the owner', url);
  return withClient(url, async (client) => {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const migrations = await readMigrations(folder);
    const pending = await findPending(client, namesOf(migrations));
    const applied = pending.length === 0 ? [] : await apply(url, folder, migrations);
    await installQueue(url);
    return applied;
  });
}

/** Returns the names of the migrations in `folder` that the database has not applied, oldest first. */
export async function listPending(client: Queryable, folder: string): Promise<string[]> {
  return findPending(client, await listMigrations(folder));
}

/** Returns the names of the migrations in `folder`, oldest first. */
export async function listMigrations(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** Returns those of `names` that the database has not applied. */
export async function findPending(client: Queryable, names: string[]): Promise<string[]> {
  const table = await client.query("select to_regclass('_prisma_migrations') is not null as present");
  if (!table.rows[0]?.present) return names;
  const done = await client.query(
    'select migration_name from _prisma_migrations where finished_at is not null and rolled_back_at is null',
  );
  const applied = new Set(done.rows.map((row) => String(row.migration_name)));
  return names.filter((name) => !applied.has(name));
}

type Queryable = { query(text: string): Promise<{ rows: Record<string, unknown>[] }> };

type Migration = { name: string; script: string };

async function readMigrations(folder: string): Promise<Migration[]> {
  return Promise.all(
    (await listMigrations(folder)).map(async (name) => ({
      name,
      script: await readFile(join(folder, name, 'migration.sql'), 'utf8'),
    })),
  );
}

const namesOf = (migrations: Migration[]) => migrations.map(({ name }) => name);

async function apply(url: string, folder: string, migrations: Migration[]): Promise<string[]> {
  const { engine, close } = await openSchemaEngine(url);
  try {
    const { appliedMigrationNames } = await engine.applyMigrations({
      migrationsList: await migrationsList(folder, migrations),
      filters: { externalTables: [], externalEnums: [] },
    });
    return appliedMigrationNames;
  } finally {
    await close();
  }
}

/** Returns the migrations in the schema engine's format: the lock file and every directory with its script. */
async function migrationsList(folder: string, migrations: Migration[]): Promise<MigrationList> {
  const lockfile = join(folder, 'migration_lock.toml');
  return {
    baseDir: folder,
    lockfile: { path: 'migration_lock.toml', content: await readFile(lockfile, 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, script }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
    })),
  };
}
