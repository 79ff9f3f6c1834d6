import type pg from 'pg';
import { traceStatements } from '../../tracing/trace-statements.js';
import type { Rows, Sql } from '../statements.js';
import { admit, enterWith, type Session } from './admission.js';
import { connect, SNAPSHOT } from './open-transaction.js';
import { firstMode, makePlanner, namedFor, type PlannedQuery } from './plans.js';
import { sendBatch, type QueryConfig } from './send-batch.js';

// Transactions of one flush: all statements are sent together, and one round trip is all that they cost.

/** Reads with all statements in one flush, from one snapshot. */
export const flushReads = (session: Session, statements: readonly Sql[]): Promise<Rows[]> =>
  flush(session, statements, sendInSnapshot);

/** Writes with all statements in one flush. They are one transaction, which commits when all have succeeded. */
export const flushWrites = (session: Session, statements: readonly Sql[]): Promise<Rows[]> =>
  flush(session, statements, sendBatch);

type Send = (client: pg.PoolClient, queries: QueryConfig[]) => Promise<Rows[]>;

const flush = (session: Session, statements: readonly Sql[], send: Send): Promise<Rows[]> =>
  session.db.connectionShares.run(session.scope.caller, () => sendOnce(session, statements, send));

async function sendOnce(session: Session, statements: readonly Sql[], send: Send): Promise<Rows[]> {
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
}

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
