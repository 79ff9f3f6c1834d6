import { setTimeout as sleep } from 'node:timers/promises';
import { BACKGROUND } from '../../platform/audit/audit.js';
import { makeContext } from '../../platform/context/request-context.js';
import {
  finishBackgroundMigration,
  readBackgroundMigrations,
  recordBackgroundError,
  type BackgroundRow,
} from '../../platform/db/migrations/background-rows.js';
import { readMigrations, type BackgroundStatement } from '../../platform/db/migrations/migration-files.js';
import { systemCallers } from '../../platform/db/database.js';
import type { SystemCaller } from '../../platform/identity/callers.js';
import type { TaskDeps } from '../../platform/queue/task-context.js';
import { batchOf, lockProgress, storeProgress } from './queries.js';
import { STEPS, type Step } from './rekey.js';

type Deps = Pick<TaskDeps, 'db' | 'stopping' | 'log'>;

/** The duration of a batch that its size is adapted to. A request that waits for one of its rows waits that long. */
const TARGET_MS = 200;
const MIN_ROWS = 10;
const MAX_ROWS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;

/** The job runs each minute, so that another worker continues if this one stops. */
const RUN_MS = 50_000;

/**
 * Runs batches of the unfinished background migrations in `folder`, tenant by tenant, each in its scope. The progress commits
 * with each batch, so a worker that is killed loses at most the batch that it was running.
 */
export async function runBackgroundMigrations(deps: Deps, folder: string): Promise<void> {
  const unfinished = (await readBackgroundMigrations(deps.db.pool)).filter(
    ({ status }) => status === 'running',
  );
  if (unfinished.length === 0) return;
  const deadlineMs = performance.now() + RUN_MS;
  const migrations = await readMigrations(folder);
  for (const row of unfinished) {
    const background = migrations.find(({ name }) => name === row.name)?.background;
    // A migration of a later version is continued by its workers.
    if (background) await runMigration(deps, row, background, deadlineMs);
  }
}

async function runMigration(
  deps: Deps,
  row: BackgroundRow,
  background: BackgroundStatement,
  deadlineMs: number,
): Promise<void> {
  try {
    for (const caller of await systemCallers(deps.db)) {
      if (row.tenantId !== null && caller.tenantId < row.tenantId) continue;
      if (!(await migrateTenant(deps, caller, { name: row.name, background, deadlineMs }))) return;
    }
    await finishBackgroundMigration(deps.db.pool, row.name);
  } catch (error) {
    deps.log.error({ err: error, migration: row.name }, 'A background migration failed.');
    await recordBackgroundError(
      deps.db.pool,
      row.name,
      error instanceof Error ? error.message : String(error),
    );
  }
}

type Run = { name: string; background: BackgroundStatement; deadlineMs: number };

/** Returns whether the tenant is done. Otherwise the migration was paused, is locked by another worker, or has to wait. */
async function migrateTenant(deps: Deps, caller: SystemCaller, run: Run): Promise<boolean> {
  while (!deps.stopping.aborted && performance.now() < run.deadlineMs) {
    const startMs = performance.now();
    const result = await runBatch(deps, caller, run);
    if (result !== 'continues') return result === 'done';
    // As long as the batch took, so that a migration uses at most half of the time.
    const pauseMs = performance.now() - startMs;
    await sleep(pauseMs, undefined, { signal: deps.stopping }).catch(() => undefined);
  }
  return false;
}

function runBatch(
  { db, log }: Deps,
  caller: SystemCaller,
  { name, background }: Run,
): Promise<'continues' | 'done' | 'refused'> {
  const ctx = makeContext(db, caller, BACKGROUND);
  return ctx.write(
    async (tx) => {
      const [progress] = await tx.query(lockProgress(name, caller.tenantId));
      if (!progress) return 'refused';
      const after = progress.tenantId === caller.tenantId ? progress.lastKey : null;
      const startMs = performance.now();
      const [batch] = await tx.query(batchOf(background.text, after, progress.batchRows));
      const findings = await runStep(background, (step) => step(tx, batch?.items ?? [], log));
      const batchRows = adaptRows(progress.batchRows, performance.now() - startMs);
      const lastKey = batch?.last ?? after;
      const rows = batch?.rows ?? 0;
      await tx.count(storeProgress(name, { tenantId: caller.tenantId, lastKey, rows, batchRows, findings }));
      return batch?.last == null ? 'done' : 'continues';
    },
    { timeoutMs: STATEMENT_TIMEOUT_MS },
  );
}

/** Runs the step that the statement names. Returns the number of rows that it reports. */
async function runStep(
  { step: name }: BackgroundStatement,
  run: (step: Step) => Promise<number>,
): Promise<number> {
  if (name === undefined) return 0;
  const step = STEPS[name];
  if (!step) throw new Error(`There is no step ${name}.`);
  return run(step);
}

/** At most doubles or halves the number of rows, because a single duration varies. */
function adaptRows(rows: number, tookMs: number): number {
  const factor = Math.min(2, Math.max(0.5, TARGET_MS / Math.max(1, tookMs)));
  return Math.round(Math.min(MAX_ROWS, Math.max(MIN_ROWS, rows * factor)));
}
