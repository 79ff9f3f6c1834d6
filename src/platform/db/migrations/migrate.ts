import type pg from 'pg';
import { MIGRATION_WAIT_SECONDS } from '../../../config/settings.js';
import { installQueue } from './install-queue.js';
import { assertDirectClient } from '../connections/pooler.js';
import { withClient } from '../connections/roles.js';
import { applyMigration, createHistory } from './apply.js';
import { assertInOrder, CURE_OF_CHANGED, findChanged, findFaults } from './check-migrations.js';
import { readBackgroundMigrations } from './background-rows.js';
import { readOpenMoves } from './open-moves.js';
import { readHistory } from './history.js';
import { LOCK_LIMITS, type LockLimits } from './lock-retries.js';
import { lockMigrations, migrationSession } from './migration-lock.js';
import { readMigrations, type Migration } from './migration-files.js';
import { assertStopped } from './running-processes.js';
import { assertMayMigrate, assertOwner } from '../owner-check/check-owner.js';
import { commandLine } from '../../../config/commands.js';

export type MigrateOptions = {
  limits?: LockLimits;
  /** How long to wait for another process that migrates. */
  waitSeconds?: number;
  /** Whether migrations that need a stop are applied although processes of the service are connected. */
  ignoresRunning?: boolean;
  log?: (line: string) => void;
};

/**
 * Applies the pending migrations in `folder`, and those of the job queue's library. Returns the names of the applied
 * migrations. Replicas may call it concurrently: an advisory lock lets one replica migrate while the others wait.
 *
 * @param url the schema owner's connection
 * @throws when a migration fails, which rolls back that migration completely; when one needs a background migration that
 *   has not finished; when an earlier version left one unfinished; when a tenant is being moved to another cell; when another
 *   process migrates for longer than `waitSeconds`; when a migration sorts before one that is applied, or has a wrong name or no header;
 *   when an applied script was changed; when the role is not the owner or lacks rights; when a migration needs a stop and processes run
 */
export async function migrate(
  url: string,
  folder: string,
  {
    limits = LOCK_LIMITS,
    waitSeconds = MIGRATION_WAIT_SECONDS,
    ignoresRunning = false,
    log = () => undefined,
  }: MigrateOptions = {},
): Promise<string[]> {
  const session = migrationSession();
  return withClient(
    url,
    async (client) => {
      await assertDirectClient('The URL of the owner', client);
      await assertOwner(client);
      await lockMigrations(client, waitSeconds, log);
      const pending = await listUnapplied(client, folder);
      // A connection of its own, because scripts may change settings of the session.
      if (pending.length > 0)
        await withClient(url, (own) => applyAll(own, pending, { limits, ignoresRunning, log }), session);
      await installQueue(url, client).catch(async (error: unknown) => {
        await assertMayMigrate(client);
        throw error;
      });
      return pending.map(({ name }) => name);
    },
    session,
  );
}

async function listUnapplied(client: pg.ClientBase, folder: string): Promise<Migration[]> {
  const migrations = await readMigrations(folder);
  const history = await readHistory(client);
  const changed = findChanged(migrations, history);
  if (changed.length > 0) throw new Error(`${changed.join('\n')} Nothing is applied. ${CURE_OF_CHANGED}`);
  const applied = new Set(history.filter(({ finishedAt }) => finishedAt).map(({ name }) => name));
  return migrations.filter(({ name }) => !applied.has(name));
}

async function applyAll(
  client: pg.ClientBase,
  pending: Migration[],
  { limits, ignoresRunning, log }: Required<Omit<MigrateOptions, 'waitSeconds'>>,
): Promise<void> {
  const history = await readHistory(client);
  const unfinished = history.find(({ finishedAt }) => !finishedAt);
  if (unfinished) throw new Error(describeUnfinished(unfinished.name));
  const faults = findFaults(pending);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  assertInOrder(pending, history);
  await assertNoMoves(client);
  await assertMayMigrate(client);
  // A new database has no process of a previous release.
  if (!ignoresRunning && history.length > 0) await assertStopped(client, pending);
  await createHistory(client);
  const isNew = history.length === 0;
  for (const migration of pending) {
    await assertRequirements(client, migration);
    await applyMigration(client, migration, { limits, isNew, log }).catch((cause: unknown) => {
      throw describeFailure(migration, cause);
    });
  }
}

/** Names the migration, because a message of PostgreSQL only names an object. */
function describeFailure({ name, isConcurrent }: Migration, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const state = isConcurrent
    ? 'Statements before the failed one are kept, and the next run continues'
    : 'Nothing of it is applied, and the migrations before it are';
  return new Error(
    `The migration ${name} failed: ${reason}. ${state}. Correct the cause, and run ${commandLine('migrate')} again.`,
    {
      cause,
    },
  );
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
