import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { installQueue } from './install-queue.js';
import { assertDirectClient } from '../connections/pooler.js';
import { withClient } from '../connections/roles.js';
import { applyMigration, createHistory } from './apply.js';
import { readBackgroundMigrations } from './background-rows.js';
import { readOpenMoves } from './open-moves.js';
import { findPending, readHistory } from './history.js';
import { LOCK_LIMITS, type LockLimits } from './lock-retries.js';
import { readMigrations, type Migration } from './migration-files.js';
import { commandLine } from '../../../config/commands.js';

// An arbitrary key, the same in every replica.
const MIGRATION_LOCK = 7_203_114;

const POLL_MS = 100;

export type MigrateOptions = { limits?: LockLimits; log?: (line: string) => void };

/**
 * Applies the pending migrations in `folder`, and those of the job queue's library. Returns the names of the applied
 * migrations. Replicas may call it concurrently: an advisory lock lets one replica migrate while the others wait.
 *
 * @param url the schema owner's connection
 * @throws when a migration fails, which rolls back that migration completely; when one needs a background migration that
 *   has not finished; when an earlier version left one unfinished; when a tenant is being moved to another cell
 */
export async function migrate(
  url: string,
  folder: string,
  { limits = LOCK_LIMITS, log = () => undefined }: MigrateOptions = {},
): Promise<string[]> {
  return withClient(url, async (client) => {
    await assertDirectClient('The URL of the owner', client);
    await waitForTurn(client);
    const pending = await listUnapplied(client, folder);
    // A connection of its own, because scripts may change settings of the session.
    if (pending.length > 0) await withClient(url, (own) => applyAll(own, pending, { limits, log }));
    await installQueue(url, client);
    return pending.map(({ name }) => name);
  });
}

/**
 * Waits without an open statement. Building an index concurrently waits for every older one, so a replica that waited for
 * the lock in one would make the replica that has it wait forever.
 */
async function waitForTurn(client: pg.ClientBase): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ is_ours: boolean }>('select pg_try_advisory_lock($1) as is_ours', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.is_ours) return;
    await sleep(POLL_MS);
  }
}

async function listUnapplied(client: pg.ClientBase, folder: string): Promise<Migration[]> {
  const migrations = await readMigrations(folder);
  const pending = await findPending(
    client,
    migrations.map(({ name }) => name),
  );
  return migrations.filter(({ name }) => pending.includes(name));
}

async function applyAll(
  client: pg.ClientBase,
  pending: Migration[],
  { limits, log }: Required<MigrateOptions>,
): Promise<void> {
  const history = await readHistory(client);
  const unfinished = history.find(({ finishedAt }) => !finishedAt);
  if (unfinished) throw new Error(describeUnfinished(unfinished.name));
  await assertNoMoves(client);
  await createHistory(client);
  const isNew = history.length === 0;
  for (const migration of pending) {
    await assertRequirements(client, migration);
    await applyMigration(client, migration, { limits, isNew, log });
  }
}

/** Logical replication copies no change of the schema, so the other cell would refuse or lose the rows of new columns. */
async function assertNoMoves(client: pg.ClientBase): Promise<void> {
  const [move] = await readOpenMoves(client);
  if (!move) return;
  throw new Error(
    `The tenant ${move.id} is being moved, with the cell ${move.cell}, so no migration is applied. End the move with ` +
      `${commandLine('tenant-move')} and --confirm or --undo, and repeat.`,
  );
}

/** Only Prisma's own command, and versions of Crossdock that used its engine, leave a migration in this state. */
const describeUnfinished = (name: string) =>
  `The migration ${name} began and did not finish. Compare the schema with its script. ` +
  `Then run prisma migrate resolve with --rolled-back or --applied, and repeat.`;

async function assertRequirements(client: pg.ClientBase, { name, requires }: Migration): Promise<void> {
  const background = await readBackgroundMigrations(client);
  const missing = requires.filter(
    (required) => !background.some((row) => row.name === required && row.status === 'finished'),
  );
  if (missing.length === 0) return;
  throw new Error(
    `${name} needs the background migration ${missing.join(', ')} to be finished. Run the workers until ` +
      `${commandLine('migrate --status')} shows that it is, and repeat.`,
  );
}
