import type { Caller } from '../identity/callers.js';
import { enterScope, preparing, toQuery, type Prepare, type Session } from './admission.js';
import type { Db } from './database.js';
import {
  flush,
  limitStatements,
  runModels,
  runPlain,
  sendTogether,
  SNAPSHOT,
  retryDeadlocks,
} from './run.js';
import type { PlainTx, Rows, Sql, Tx } from './statements.js';
import { assertNoUnitOfWork, currentUnitOfWork, isInTransaction, runInUnitOfWork } from './unit-of-work.js';

// Transactions for modules that have no request context yet (decision 0036). New code uses
// platform/context/request-context.ts.

export type { Db } from './database.js';
export { empty, join, raw, sql } from './statements.js';
export type { PlainTx, Rows, Sql, Tx } from './statements.js';
export { enterScope };

const admitted = new WeakSet<Caller>();

/** Whether the database has admitted this caller during this request. */
export const isAdmitted = (caller: Caller): boolean => admitted.has(caller);

const sessionOf = (db: Db, caller: Caller): Session => ({
  db,
  caller,
  noteAdmitted: () => void admitted.add(caller),
});

/**
 * Runs `work` in one transaction in the caller's scope, and again when PostgreSQL broke a deadlock by
 * ending it. `work` must have no effect outside the transaction.
 *
 * @throws ApiError token_invalid, token_expired, account_disabled or key_invalid when the caller may not enter
 */
export async function transaction<Result>(
  db: Db,
  caller: Caller,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  refuseNesting();
  const session = sessionOf(db, caller);
  const unit = currentUnitOfWork();
  if (!unit) return retryDeadlocks(() => runModels(session, work));
  return runInUnitOfWork(unit, (around) =>
    retryDeadlocks(() => runModels(session, (tx) => around(tx, () => work(tx))), unit),
  );
}

/**
 * As transaction, on a connection alone, for work that is large by its nature: Prisma hands a parameter over as JSON,
 * and 8 MB of it stopped the event loop for 60 ms.
 *
 * @param timeoutMs when a statement is given up, instead of at the pool's own limit
 */
export async function bulkTransaction<Result>(
  db: Db,
  caller: Caller,
  timeoutMs: number,
  work: (tx: PlainTx) => Promise<Result>,
): Promise<Result> {
  refuseNesting();
  const run = <Out>(inside: (tx: PlainTx) => Promise<Out>): Promise<Out> =>
    runPlain(sessionOf(db, caller), async (tx) => {
      await limitStatements(tx, timeoutMs);
      return inside(tx);
    });
  const unit = currentUnitOfWork();
  if (!unit) return retryDeadlocks(() => run(work));
  return runInUnitOfWork(unit, (around) =>
    retryDeadlocks(() => run((tx) => around(tx, () => work(tx))), unit),
  );
}

/** Reads what is too much for one answer part by part, all parts seeing the database as it was at one moment. */
export async function snapshotTransaction<Result>(
  db: Db,
  caller: Caller,
  timeoutMs: number,
  work: (tx: PlainTx) => Promise<Result>,
): Promise<Result> {
  refuseNesting();
  assertNoUnitOfWork(currentUnitOfWork());
  const readParts = async (tx: PlainTx) => {
    await limitStatements(tx, timeoutMs);
    return work(tx);
  };
  return retryDeadlocks(() => runPlain(sessionOf(db, caller), readParts, SNAPSHOT));
}

/**
 * Reads in one flush, all statements seeing the database as it was at one moment.
 *
 * @throws ApiError as transaction does
 */
export async function snapshot(db: Db, caller: Caller, statements: Sql[]): Promise<Rows[]> {
  assertNoUnitOfWork(currentUnitOfWork());
  refuseNesting();
  return flush(sessionOf(db, caller), SNAPSHOT, statements);
}

/**
 * Sends `statements` as one transaction in the caller's scope, in one flush, and answers their rows. A caller
 * who may not enter has an empty scope, so that the statements behind find and change nothing.
 *
 * @throws ApiError as transaction does
 */
export const pipeline = (db: Db, caller: Caller, statements: Sql[]): Promise<Rows[]> =>
  flushWrites(db, caller, statements, toQuery);

/** As pipeline, for statements whose text is always the same: they are prepared. */
export const preparedPipeline = (db: Db, caller: Caller, statements: Sql[]): Promise<Rows[]> =>
  flushWrites(db, caller, statements, preparing(db));

async function flushWrites(db: Db, caller: Caller, statements: Sql[], prepare: Prepare): Promise<Rows[]> {
  refuseNesting();
  const unit = currentUnitOfWork();
  if (!unit) return flush(sessionOf(db, caller), 'begin', statements, prepare);
  return runInUnitOfWork(unit, (around) =>
    runPlain(sessionOf(db, caller), (tx, client) =>
      around(tx, () => sendTogether(client, statements.map(prepare))),
    ),
  );
}

/** Asks only whether the caller may enter. */
export async function assertAdmitted(db: Db, caller: Caller): Promise<void> {
  await pipeline(db, caller, []);
}

// A second transaction inside the first takes a second connection: under load all requests hold one and
// wait for another, and the pool starves.
function refuseNesting(): void {
  if (isInTransaction()) throw new Error('A transaction was opened inside another.');
}
