import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { addBackgroundMigration } from './background-rows.js';
import { inTransactionWithLocks, type LockLimits } from './lock-retries.js';
import { statementsOf, type Migration } from './migration-files.js';

export type ApplyOptions = {
  limits: LockLimits;
  /** Whether the database was empty, so that a background migration has nothing to do. */
  isNew: boolean;
  log: (line: string) => void;
};

/** Creates Prisma's table of migrations, which `prisma migrate deploy` also uses. */
export async function createHistory(client: pg.ClientBase): Promise<void> {
  await client.query(`create table if not exists _prisma_migrations (
    id varchar(36) primary key,
    checksum varchar(64) not null,
    finished_at timestamptz,
    migration_name varchar(255) not null,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz not null default now(),
    applied_steps_count integer not null default 0
  )`);
}

/** Applies a migration. A process that is killed meanwhile leaves a state from which the next call continues. */
export async function applyMigration(
  client: pg.ClientBase,
  migration: Migration,
  { limits, isNew, log }: ApplyOptions,
): Promise<void> {
  if (migration.isConcurrent) await changeIndexes(client, migration);
  const complete = async () => {
    if (!migration.isConcurrent) await client.query(migration.script);
    if (migration.background) await addBackgroundMigration(client, migration, isNew);
    await record(client, migration);
  };
  await inTransactionWithLocks(client, limits, complete, () =>
    log(`${migration.name} waits for the locks of running transactions and tries again.`),
  );
  // A script may change settings of the session.
  await client.query('reset all');
}

/**
 * Runs each statement in a transaction of its own, without a lock timeout: building an index concurrently waits for
 * running transactions, but makes no other transaction wait.
 */
async function changeIndexes(client: pg.ClientBase, { script }: Migration): Promise<void> {
  for (const statement of statementsOf(script)) {
    const [, name] = /^create (?:unique )?index concurrently if not exists (\w+)/i.exec(statement) ?? [];
    if (name && (await isInvalid(client, name))) await client.query(`drop index concurrently ${name}`);
    await client.query(statement);
  }
}

/** A build that failed leaves an invalid index, which costs each write and is used by no query. */
async function isInvalid(client: pg.ClientBase, name: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'select from pg_index where indexrelid = to_regclass($1) and not indisvalid',
    [name],
  );
  return rowCount === 1;
}

/** The doctor of an older release reads from `logs` that it does not survive the migration, and of Prisma only failures are there. */
async function record(client: pg.ClientBase, { name, checksum, upgrade }: Migration): Promise<void> {
  await client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count, logs)
     values ($1, $2, $3, clock_timestamp(), 1, $4)`,
    [randomUUID(), checksum, name, upgrade === 'stop' ? 'upgrade: stop' : null],
  );
}
