import type pg from 'pg';
import { limitSilence } from '../connections/lost-servers.js';
import type { ReadTx } from '../scope.js';
import { raw, sql, type Sql } from '../statements.js';
import { isRetryable } from '../violations.js';
import type { Session } from './admission.js';
import { BEGIN, makeTransaction } from './transaction.js';

/** A transaction that has a connection of its own. Commit or rollback must end it: both give the connection back. */
export type OpenTransaction = Awaited<ReturnType<typeof openTransaction>>;

type TransactionOptions = {
  /** The statement that begins the transaction. */
  begin?: Sql;
  /** The statement timeout, instead of the pool's own. */
  timeoutMs?: number | undefined;
};

/** Begins a transaction that only reads, and whose statements all see the same snapshot. */
export const SNAPSHOT = sql`begin isolation level repeatable read, read only`;

/**
 * Returns a transaction on a connection from the caller's share. Nothing is sent yet: PostgreSQL begins the transaction with its
 * first statement.
 */
export async function openTransaction(
  session: Session,
  { begin = BEGIN, timeoutMs }: TransactionOptions = {},
) {
  const permit = await session.db.connectionShares.acquire(session.scope.caller, session.isContinued());
  const client = await connect(session).catch((error: unknown) => {
    permit.release(error);
    throw error;
  });
  const { tx, finishWork, commit, rollback, end } = makeTransaction(client, session, begin);
  if (timeoutMs) {
    limitSilence(client, timeoutMs);
    tx.later(sql`set local statement_timeout = ${raw(String(timeoutMs))}`);
  }
  return {
    tx,
    finishWork,
    /** After a failed commit, call `rollback`. */
    async commit(): Promise<void> {
      await commit();
      client.release();
      end();
      permit.release();
    },
    async rollback(reason: unknown): Promise<void> {
      // A connection that cannot roll back must not be used for the next request.
      const isBroken = await rollback()
        .then(() => false)
        .catch(() => true);
      client.release(isBroken);
      end();
      permit.release(reason);
    },
  };
}

export async function connect({ db, awaitReplay }: Session): Promise<pg.PoolClient> {
  const client = await db.pool.connect();
  try {
    await awaitReplay?.(client);
    return client;
  } catch (error) {
    client.release();
    throw error;
  }
}

/** Runs work in a transaction, which the work commits, and rolls back if it fails. */
export async function inTransaction<Result>(
  session: Session,
  options: TransactionOptions,
  work: (transaction: OpenTransaction) => Promise<Result>,
): Promise<Result> {
  const transaction = await openTransaction(session, options);
  try {
    return await work(transaction);
  } catch (error) {
    await transaction.rollback(error);
    throw error;
  }
}

/** Reads in several steps from one snapshot. */
export const readInSteps = <Result>(
  session: Session,
  work: (tx: ReadTx) => Promise<Result>,
  timeoutMs?: number,
): Promise<Result> =>
  inTransaction(session, { begin: SNAPSHOT, timeoutMs }, async ({ tx, commit }) => {
    const result = await work(tx);
    await commit();
    return result;
  });

const MAX_ATTEMPTS = 3;

/** Runs a transaction again if PostgreSQL aborted it to resolve a deadlock, or if another one stored the same row meanwhile, which the next attempt finds. */
export async function retryDeadlocks<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}
