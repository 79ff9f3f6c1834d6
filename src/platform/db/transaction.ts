import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { PrismaClient } from '../../../generated/prisma/client.js';
import type { Caller } from '../identity/callers.js';
import { ApiError, type FailureCode } from '../errors/errors.js';
import {
  assertNoUnitOfWork,
  currentUnitOfWork,
  runInUnitOfWork,
  inTransaction,
  isInTransaction,
  type UnitOfWork,
} from './unit-of-work.js';
import { STATEMENT_TIMEOUT_MS } from './connections/pool.js';
import type { ConnectionShares } from './connections/connection-shares.js';
import { empty, raw, sql, type PlainTx, type Rows, type Sql, type Tx } from './statements.js';
import { isRetryable } from './violations.js';

export type Db = {
  pool: pg.Pool;
  prisma: PrismaClient;
  /** Who may have how many of the pool's connections; every transaction asks. */
  connectionShares: ConnectionShares;
  /** False only in the tests that prove row-level security alone; see ownRows. */
  applicationFilters: boolean;
  /** Nothing outlives a transaction: settings are made in each, and no statement is prepared. */
  isBehindPooler: boolean;
};

export { empty, join, raw, sql } from './statements.js';
export type { PlainTx, Rows, Sql, Tx } from './statements.js';

const MAX_ATTEMPTS = 3;

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
  const held = currentUnitOfWork();
  if (!held) return untilUnbroken(() => runOnce(db, caller, work));
  return runInUnitOfWork(held, (around) =>
    untilUnbroken(() => runOnce(db, caller, (tx) => around(tx, () => work(tx))), held),
  );
}

async function untilUnbroken<Result>(run: () => Promise<Result>, held?: UnitOfWork): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      // what the work answered is in use by then
      if (attempt === MAX_ATTEMPTS || held?.isWaiting || !isRetryable(error)) throw error;
    }
  }
}

const runOnce = <Result>(db: Db, caller: Caller, work: (tx: Tx) => Promise<Result>): Promise<Result> =>
  db.connectionShares.run(caller, () => runSeated(db, caller, work));

async function runSeated<Result>(db: Db, caller: Caller, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return inTransaction(() =>
    db.prisma.$transaction(
      async (models) => {
        const tx: Tx = {
          models,
          caller,
          query: (statement) => models.$queryRaw(statement),
          execute: (statement) => models.$executeRaw(statement),
        };
        admit(db, caller, await tx.query<Admission>(enterWith(db, caller)));
        return work(tx);
      },
      { maxWait: 2_000, timeout: 15_000 },
    ),
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
    onConnection(db, caller, async (tx) => {
      await limitStatements(tx, timeoutMs);
      return inside(tx);
    });
  const held = currentUnitOfWork();
  if (!held) return untilUnbroken(() => run(work));
  return runInUnitOfWork(held, (around) =>
    untilUnbroken(() => run((tx) => around(tx, () => work(tx))), held),
  );
}

/** A transaction in the caller's scope on a connection alone. */
const onConnection = <Result>(
  db: Db,
  caller: Caller,
  work: (tx: PlainTx, client: pg.PoolClient) => Promise<Result>,
  begin = 'begin',
): Promise<Result> => db.connectionShares.run(caller, () => onConnectionSeated(db, caller, work, begin));

async function onConnectionSeated<Result>(
  db: Db,
  caller: Caller,
  work: (tx: PlainTx, client: pg.PoolClient) => Promise<Result>,
  begin: string,
): Promise<Result> {
  const client = await db.pool.connect();
  try {
    await client.query(begin);
    const result = await inTransaction(async () => {
      const tx = toPlainTx(client, caller);
      admit(db, caller, await tx.query<Admission>(enterWith(db, caller)));
      return work(tx, client);
    });
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // a connection that cannot roll back is not fit for the next request
    client.release(
      await client.query('rollback').then(
        () => false,
        () => true,
      ),
    );
    throw error;
  }
}

const SNAPSHOT = 'begin isolation level repeatable read, read only';

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
  return untilUnbroken(() => onConnection(db, caller, readParts, SNAPSHOT));
}

const limitStatements = (tx: PlainTx, timeoutMs: number): Promise<number> =>
  tx.execute(sql`set local statement_timeout = ${raw(String(timeoutMs))}`);

const toPlainTx = (client: pg.PoolClient, caller: Caller): PlainTx => ({
  caller,
  // as: the columns that the statement selects, which its caller names
  query: async <Row>(statement: Sql) => (await client.query(toQuery(statement))).rows as Row[],
  execute: async (statement) => (await client.query(toQuery(statement))).rowCount ?? 0,
});

/**
 * Reads in one flush, all statements seeing the database as it was at one moment.
 *
 * @throws ApiError as transaction does
 */
export async function snapshot(db: Db, caller: Caller, statements: Sql[]): Promise<Rows[]> {
  assertNoUnitOfWork(currentUnitOfWork());
  return flush(db, caller, SNAPSHOT, statements);
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

async function flushWrites(
  db: Db,
  caller: Caller,
  statements: Sql[],
  prepare: (statement: Sql) => object,
): Promise<Rows[]> {
  const held = currentUnitOfWork();
  if (!held) return flush(db, caller, 'begin', statements, prepare);
  refuseNesting();
  return runInUnitOfWork(held, (around) =>
    onConnection(db, caller, (tx, client) => around(tx, () => sendTogether(client, statements.map(prepare)))),
  );
}

async function flush(
  db: Db,
  caller: Caller,
  begin: string,
  statements: Sql[],
  prepare: (statement: Sql) => object = toQuery,
): Promise<Rows[]> {
  refuseNesting();
  return db.connectionShares.run(caller, () => flushSeated(db, caller, begin, statements, prepare));
}

async function flushSeated(
  db: Db,
  caller: Caller,
  begin: string,
  statements: Sql[],
  prepare: (statement: Sql) => object,
): Promise<Rows[]> {
  const client = await db.pool.connect();
  try {
    const queries = [begin, preparing(db)(enterWith(db, caller)), ...statements.map(prepare), 'commit'];
    const [, entered, ...rest] = await sendTogether(client, queries);
    // as: the shape that enter() selects
    admit(db, caller, (entered ?? []) as Admission[]);
    return rest.slice(0, -1);
  } finally {
    client.release();
  }
}

/** Sends queries without waiting for each other's answers. @throws what the first that failed did */
async function sendTogether(client: pg.PoolClient, queries: (string | object)[]): Promise<Rows[]> {
  // as: pg takes text or a query object alike, its overloads do not
  const sent = queries.map((query) => client.query<Record<string, unknown>>(query as string));
  const settled = await Promise.allSettled(sent);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return settled.map((result) => (result.status === 'fulfilled' ? result.value.rows : []));
}

/** `courier_id` is the owner of a key. */
type Admission = { outcome: 'ok' | FailureCode; courier_id?: string };

const entered = new WeakSet<Caller>();

/** Whether the database has let this caller in during this request. */
export const isAdmitted = (caller: Caller): boolean => entered.has(caller);

function admit(db: Db, caller: Caller, rows: Admission[]): void {
  const { outcome, courier_id: courierId } = rows[0] ?? {};
  if (!outcome) throw new Error('The scope statement answered nothing.');
  if (outcome !== 'ok') throw new ApiError(outcome);
  if (caller.kind === 'key' && courierId) db.connectionShares.recordKeyOwner(caller.keyHash, courierId);
  entered.add(caller);
}

const TIMEOUT = String(STATEMENT_TIMEOUT_MS);

/** What a session behind a pooler cannot keep; elsewhere pool.ts sets it once a connection. */
const SESSION = sql`, set_config('timezone', 'UTC', true),
  set_config('statement_timeout', ${TIMEOUT}, true)`;

const enterWith = (db: Db, caller: Caller): Sql => enterScope(caller, db.isBehindPooler ? SESSION : empty);

/**
 * Sets the scope and asks, in one statement, whether the caller may still enter.
 *
 * @param also selected beside the outcome
 */
export function enterScope(caller: Caller, also: Sql = empty): Sql {
  switch (caller.kind) {
    case 'user':
      return sql`select outcome${also} from enter_as_user(${caller.tenantId}::uuid, ${caller.userId}::uuid,
        ${caller.tokenVersion}::integer, ${caller.expiresAt}::bigint, ${caller.changesPassword === true}::boolean,
        ${caller.sessionId ?? null}::uuid, ${caller.enrolsFactor === true}::boolean)`;
    case 'key':
      return sql`select outcome, courier_id${also} from enter_with_key(${caller.tenantId}::uuid, ${caller.keyHash})`;
    case 'system':
      return sql`select 'ok' as outcome, set_config('app.tenant_id', ${caller.tenantId}, true),
        set_config('app.courier_id', 'all', true)${also}`;
  }
}

/** Asks only whether the caller may enter. */
export async function assertAdmitted(db: Db, caller: Caller): Promise<void> {
  await pipeline(db, caller, []);
}

const toQuery = (statement: Sql) => ({ text: statement.text, values: statement.values });

/** Parsed and planned once a connection: planning took as long as the work of a submitted pre-alert. */
const toPrepared = (statement: Sql) => ({ ...toQuery(statement), name: nameOf(statement.text) });

/** How statements of a fixed text are sent: a pooler's sessions know nothing of what another has prepared. */
const preparing = (db: Db) => (db.isBehindPooler ? toQuery : toPrepared);

const names = new Map<string, string>();

/**
 * PostgreSQL's name of a prepared statement, made of its text: whatever shares a session, in whatever order it began, means
 * the same by it. Only for texts that are fixed, because each is kept for ever.
 */
function nameOf(text: string): string {
  const name = names.get(text) ?? `crossdock_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
  names.set(text, name);
  return name;
}

// A second transaction inside the first takes a second connection: under load all requests hold one and
// wait for another, and the pool starves.
function refuseNesting(): void {
  if (isInTransaction()) throw new Error('A transaction was opened inside another.');
}
