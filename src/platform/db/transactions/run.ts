import type pg from 'pg';
import type { Prisma } from '../../../../generated/prisma/client.js';
import type { Caller } from '../../identity/callers.js';
import { admit, enterModels, enterWith, type Session } from './admission.js';
import { limitSilence } from '../connections/lost-servers.js';
import type { WalPosition } from '../connections/replay.js';
import { SERVER } from '../connections/server-identity.js';
import { firstMode, makePlanner, namedFor, type PlannedQuery } from './plans.js';
import { sendBatch, type QueryConfig } from './send-batch.js';
import { traceStatements } from '../../tracing/trace-statements.js';
import { extend, scopedClient } from '../models/scoped-client.js';
import { makePlainTransaction, type PlainOptions } from './plain-transaction.js';
import { raw, sql, type PlainTx, type Rows, type RowsOf, type Sql, type Tx } from '../statements.js';
import type { UnitOfWork } from './unit-of-work.js';
import { isRetryable } from '../violations.js';

// The ways to run statements in a caller's scope. Only request-context.ts uses them: it enforces the rules about the
// transactions of a request.

/** Begins a transaction that only reads, and whose statements all see the same snapshot. */
export const SNAPSHOT = sql`begin isolation level repeatable read, read only`;

const MAX_ATTEMPTS = 3;

/** Runs a transaction again if PostgreSQL aborted it to resolve a deadlock. */
export async function retryDeadlocks<Result>(run: () => Promise<Result>, unit?: UnitOfWork): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      // Once the unit of work waits, the result of the work is already in use.
      if (attempt === MAX_ATTEMPTS || unit?.isWaiting || !isRetryable(error)) throw error;
    }
  }
}

/** Prisma's interactive transaction, with models. */
export const runModels = <Result>(session: Session, work: (tx: Tx) => Promise<Result>): Promise<Result> =>
  session.db.connectionShares.run(session.caller, () => runModelsTraced(session, work));

/** Registers the span for as long as the transaction, so that Prisma's adapter finds it. */
async function runModelsTraced<Result>(session: Session, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const { span, modelSpans } = session.db;
  if (!span || !modelSpans) return runModelsWithPermit(session, work);
  modelSpans.set(span.traceparent, span);
  try {
    return await runModelsWithPermit(session, work);
  } finally {
    modelSpans.delete(span.traceparent);
  }
}

function runModelsWithPermit<Result>(session: Session, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const { db, caller } = session;
  // The courier of an API key is known once the database has admitted it. Until then, no row has the empty id.
  const scope = { tenantId: caller.tenantId, courierId: caller.kind === 'key' ? '' : courierOf(caller) };
  const client = caller.kind === 'key' ? extend(db, () => scope) : scopedClient(db, scope);
  return client.$transaction(
    async (models) => {
      const tx = toModelTx(models, caller);
      const { courier_id: courierId } = admit(session, await tx.query(enterModels(session)));
      if (caller.kind === 'key') scope.courierId = courierId ?? '';
      return work(tx);
    },
    { maxWait: 2_000, timeout: 15_000 },
  );
}

function toModelTx(models: Prisma.TransactionClient, caller: Caller): Tx {
  const query = <Row>(statement: Sql<Row>) => models.$queryRaw<Row[]>(statement);
  return {
    models,
    caller,
    query,
    async queryAll(statements) {
      const results: unknown[] = [];
      for (const statement of statements) results.push(await query(statement));
      // The authors of the statements state the row types.
      return results as RowsOf<typeof statements>;
    },
    execute: (statement) => models.$executeRaw(statement),
    async defer(statement) {
      await models.$executeRaw(statement);
    },
  };
}

const courierOf = (caller: Exclude<Session['caller'], { kind: 'key' }>) =>
  caller.kind === 'user' ? caller.courierId : null;

/** A transaction of plain SQL on one connection. */
export const runPlain = <Result>(
  session: Session,
  work: (tx: PlainTx, flush: () => Promise<void>) => Promise<Result>,
  options?: PlainOptions,
): Promise<Result> =>
  session.db.connectionShares.run(session.caller, () => runPlainWithPermit(session, work, options));

async function runPlainWithPermit<Result>(
  session: Session,
  work: (tx: PlainTx, flush: () => Promise<void>) => Promise<Result>,
  options: PlainOptions = {},
): Promise<Result> {
  const client = await connect(session);
  const { tx, flush, commit, rollback } = makePlainTransaction(client, session, options);
  try {
    if (options.timeoutMs) await limitStatements(client, tx, options.timeoutMs);
    const result = await work(tx, flush);
    await commit();
    client.release();
    return result;
  } catch (error) {
    // A connection that cannot roll back must not be used for the next request.
    client.release(
      await rollback().then(
        () => false,
        () => true,
      ),
    );
    throw error;
  }
}

async function connect({ db, awaitReplay }: Session): Promise<pg.PoolClient> {
  const client = await db.pool.connect();
  try {
    await awaitReplay?.(client);
    return client;
  } catch (error) {
    client.release();
    throw error;
  }
}

function limitStatements(client: pg.PoolClient, tx: PlainTx, timeoutMs: number): Promise<void> {
  limitSilence(client, timeoutMs);
  return tx.defer(sql`set local statement_timeout = ${raw(String(timeoutMs))}`);
}

type Send = (client: pg.PoolClient, queries: QueryConfig[]) => Promise<Rows[]>;

/** Reads with all statements in one flush, from one snapshot. */
export const flushReads = (session: Session, statements: readonly Sql[]): Promise<Rows[]> =>
  flush(session, statements, sendInSnapshot);

/** Writes with all statements in one flush. They are one transaction, which commits when all have succeeded. */
export const flushWrites = (session: Session, statements: readonly Sql[]): Promise<Rows[]> =>
  flush(session, statements, sendBatch);

const flush = (session: Session, statements: readonly Sql[], send: Send): Promise<Rows[]> =>
  session.db.connectionShares.run(session.caller, async () => {
    const { db } = session;
    const mode = firstMode(statements);
    const queries = makePlanner(db, mode)(statements);
    const client = await connect(session);
    try {
      const all: PlannedQuery[] = [namedFor(db)(enterWith(session, mode)), ...queries];
      const [entered, ...results] = await traceStatements(db.span, all, () => send(client, all));
      // enterScope selects these columns.
      admit(session, (entered ?? []) as Parameters<typeof admit>[1]);
      return results.filter((_, index) => !queries[index]?.isSetting);
    } finally {
      client.release();
    }
  });

const SNAPSHOT_QUERY: QueryConfig = { text: SNAPSHOT.text, values: [] };

/** Sends an explicit transaction. The commit has its own Sync, because it must also end a failed transaction. */
async function sendInSnapshot(client: pg.PoolClient, queries: QueryConfig[]): Promise<Rows[]> {
  const [reads] = await Promise.allSettled([
    sendBatch(client, [SNAPSHOT_QUERY, ...queries]),
    client.query('commit'),
  ]);
  if (reads.status === 'rejected') throw reads.reason;
  return reads.value.slice(1);
}

/**
 * The position after every transaction that has been committed. It is the position of the next record, because with
 * synchronous_commit = off a commit is acknowledged before it is written.
 */
const currentPosition: Sql<WalPosition> = sql`select ${raw(SERVER)} as server,
  pg_current_wal_insert_lsn()::text as position`;

/**
 * Runs reading work on the replica if that has replayed everything that was committed before this call, and otherwise on the
 * primary. The primary admits the caller and tells the position in one round trip.
 *
 * @param run may be called a second time, if the replica fails
 */
export async function readReport<Result>(
  session: Session,
  run: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { db } = session;
  const { replica } = db;
  if (!replica?.mayServe()) return run(session);
  const { pool, connectionShares } = replica;
  const served = await replica.serve(async (awaitPosition) => {
    const position = await readPosition(session);
    return run({
      ...session,
      // It never leads to a pooler.
      db: { ...db, pool, connectionShares, isBehindPooler: false },
      awaitReplay: (client) => awaitPosition(client, position),
    });
  });
  return served ? served.result : run(session);
}

async function readPosition(session: Session): Promise<WalPosition> {
  const [rows] = await flushReads(session, [currentPosition]);
  // The statement selects exactly these columns.
  const [position] = (rows ?? []) as WalPosition[];
  if (!position) throw new Error('The statement returned no row.');
  return position;
}
