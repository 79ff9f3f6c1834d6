import type pg from 'pg';
import { limitSilence } from '../connections/lost-servers.js';
import type { ReadTx, Tx } from '../scope.js';
import { raw, sql, type Sql } from '../statements.js';
import { isRetryable } from '../violations.js';
import type { Session } from './admission.js';
import { BEGIN, makeTransaction } from './transaction.js';

/** A transaction that has a connection of its own. Commit or rollback must end it: both give the connection back. */
export type OpenTransaction = {
  tx: Tx;
  /** Ends the work: sends the deferred statements and the last ones. */
  flush(): Promise<void>;
  /** After a failed commit, call `rollback`. */
  commit(): Promise<void>;
  rollback(reason: unknown): Promise<void>;
};

export type TransactionOptions = {
  /** The statement that begins the transaction. */
  begin?: Sql;
  /** The statement timeout, instead of the pool's own. */
  timeoutMs?: number | undefined;
};

/** Begins a transaction that only reads, and whose statements all see the same snapshot. */
export const SNAPSHOT = sql`begin isolation level repeatable read, read only`;

/** Takes a connection from the caller's share. The transaction itself begins with its first statement. */
export async function openTransaction(
  session: Session,
  { begin = BEGIN, timeoutMs }: TransactionOptions = {},
): Promise<OpenTransaction> {
  const permit = await session.db.connectionShares.acquire(session.scope.caller);
  const client = await connect(session).catch((error: unknown) => {
    permit.release(error);
    throw error;
  });
  const { tx, flush, commit, rollback, end } = makeTransaction(client, session, begin);
  if (timeoutMs) {
    limitSilence(client, timeoutMs);
    tx.later(sql`set local statement_timeout = ${raw(String(timeoutMs))}`);
  }
  return {
    tx,
    flush,
    async commit() {
      await commit();
      client.release();
      end();
      permit.release();
    },
    async rollback(reason) {
      // A connection that cannot roll back must not be used for the next request.
      client.release(
        await rollback().then(
          () => false,
          () => true,
        ),
      );
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

/** Reads in several steps from one snapshot. */
export async function readInSteps<Result>(
  session: Session,
  work: (tx: ReadTx) => Promise<Result>,
  timeoutMs?: number,
): Promise<Result> {
  const transaction = await openTransaction(session, { begin: SNAPSHOT, timeoutMs });
  try {
    const result = await work(transaction.tx);
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback(error);
    throw error;
  }
}

const MAX_ATTEMPTS = 3;

/** Runs a transaction again if PostgreSQL aborted it to resolve a deadlock, or the next attempt finds what it met. */
export async function retryDeadlocks<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}
