import type pg from 'pg';
import { traceStatements } from '../../tracing/trace-statements.js';
import type { Rows, Sql } from '../statements.js';
import { admit, enterWith, type Admission, type Session } from './admission.js';
import { makeLockOrder } from './lock-order.js';
import { connect, SNAPSHOT } from './open-transaction.js';
import { firstMode, makePlanner, namedFor, type PlannedQuery } from './plans.js';
import { runBatch, type StatementResult } from './send-batch.js';
import type { QueryConfig } from './submit.js';

// Transactions whose statements are all sent together: one round trip is all that they cost.

/** Reads with all statements in one round trip, from one snapshot. */
export const readAtOnce = (session: Session, statements: readonly Sql[]): Promise<Rows[]> =>
  runAtOnce(session, statements, sendInSnapshot);

/** Writes with all statements in one round trip. They are one transaction, which commits when all have succeeded. */
export const writeAtOnce = (session: Session, statements: readonly Sql[]): Promise<Rows[]> =>
  runAtOnce(session, statements, runBatch);

/** Fills `results`. If a statement fails, they are those of the statements before it. */
type Send = (client: pg.PoolClient, queries: QueryConfig[], results: StatementResult[]) => Promise<unknown>;

const runAtOnce = (session: Session, statements: readonly Sql[], send: Send): Promise<Rows[]> =>
  session.db.connectionShares.run(
    session.scope.caller,
    () => sendOnce(session, statements, send),
    session.isContinued(),
  );

async function sendOnce(session: Session, statements: readonly Sql[], send: Send): Promise<Rows[]> {
  const { db } = session;
  statements.forEach(makeLockOrder().check);
  const mode = firstMode(statements);
  const queries: PlannedQuery[] = [
    namedFor(db)(enterWith(session, mode)),
    ...makePlanner(db, mode)(statements),
  ];
  const results: StatementResult[] = [];
  const client = await connect(session);
  try {
    await traceStatements(db.span, queries, () => send(client, queries, results));
  } finally {
    client.release();
    // After a failure too, because the scope of a refused caller may be its reason.
    const [entered] = results;
    // enterScope selects these columns.
    if (entered) admit(session, entered.rows as Admission[]);
  }
  return results.filter((_, index) => index > 0 && !queries[index]?.isSetting).map(({ rows }) => rows);
}

const SNAPSHOT_QUERY: QueryConfig = { text: SNAPSHOT.text, values: [] };

/** Sends an explicit transaction. The commit has its own Sync, because it must also end a failed transaction. */
async function sendInSnapshot(
  client: pg.PoolClient,
  queries: QueryConfig[],
  results: StatementResult[],
): Promise<void> {
  const begun: StatementResult[] = [];
  const [reads] = await Promise.allSettled([
    runBatch(client, [SNAPSHOT_QUERY, ...queries], begun),
    client.query('commit'),
  ]);
  results.push(...begun.slice(1));
  if (reads.status === 'rejected') throw reads.reason;
}
