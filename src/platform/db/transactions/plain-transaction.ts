import type pg from 'pg';
import { admit, enterWith, type Admission, type Session } from './admission.js';
import { firstMode, makePlanner, namedFor, type PlannedQuery, type Planner } from './plans.js';
import { runBatch, type QueryConfig, type StatementResult } from './send-batch.js';
import { traceStatements } from '../../tracing/trace-statements.js';
import { once, type PlainTx, type RowsOf, type Sql } from '../statements.js';

export type PlainOptions = {
  /** The statement that begins the transaction. */
  begin?: Sql;
  /** The statement timeout, instead of the pool's own. */
  timeoutMs?: number | undefined;
};

export type PlainTransaction = {
  tx: PlainTx;
  /** Sends the deferred statements. */
  flush(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
};

const BEGIN = once`begin`;
const COMMIT = once`commit`;

/**
 * Makes a transaction of plain SQL in the session's scope. The statement that begins it and the admission are sent with its
 * first statements, and deferred statements with the next ones or with the commit: none of them costs a round trip (decision
 * 0047). The first statements of a refused caller find no rows under row-level security, and are rolled back.
 */
export function makePlainTransaction(
  client: pg.ClientBase,
  session: Session,
  { begin = BEGIN }: PlainOptions = {},
): PlainTransaction {
  const { db } = session;
  const named = namedFor(db);
  let plan: Planner | undefined;
  let isAdmitted = false;
  let deferred: Sql[] = [];

  const runTraced = (queries: QueryConfig[], results?: StatementResult[]): Promise<StatementResult[]> =>
    traceStatements(db.span, queries, () => runBatch(client, queries, results));

  /** Sends the deferred statements and these, and returns the results of these. */
  async function send(statements: readonly Sql[]): Promise<StatementResult[]> {
    const all = [...deferred, ...statements];
    deferred = [];
    const results = await (plan ? sendPlanned(plan(all)) : beginWith(all));
    return results.slice(results.length - statements.length);
  }

  async function sendPlanned(queries: PlannedQuery[]): Promise<StatementResult[]> {
    const results = await runTraced(queries);
    return results.filter((_, index) => !queries[index]?.isSetting);
  }

  async function beginWith(statements: readonly Sql[]): Promise<StatementResult[]> {
    const mode = firstMode(statements);
    plan = makePlanner(db, mode);
    const results: StatementResult[] = [];
    try {
      const first: PlannedQuery[] = [named(begin), named(enterWith(session, mode)), ...plan(statements)];
      await runTraced(first, results);
      return results.filter((_, index) => !first[index]?.isSetting);
    } finally {
      // After a failure too, because the scope of a refused caller may be its reason.
      const [, entered] = results;
      if (entered) enter(entered);
    }
  }

  function enter({ rows }: StatementResult): void {
    // enterScope selects these columns.
    admit(session, rows as Admission[]);
    isAdmitted = true;
  }

  const queryAll = async <const Statements extends readonly Sql[]>(
    statements: Statements,
  ): Promise<RowsOf<Statements>> => {
    const results = await send(statements);
    // The authors of the statements state the row types.
    return results.map(({ rows }) => rows) as RowsOf<Statements>;
  };

  return {
    tx: {
      caller: session.caller,
      queryAll,
      query: async (statement) => (await queryAll([statement]))[0],
      async execute(statement) {
        const [result] = await send([statement]);
        return result?.count ?? 0;
      },
      async defer(statement) {
        deferred.push(statement);
      },
    },
    async flush() {
      if (deferred.length > 0) await send([]);
    },
    async commit() {
      // Not together with the admission, which may refuse the caller.
      if (!isAdmitted) await send([]);
      await send([COMMIT]);
    },
    async rollback() {
      if (plan) await client.query('rollback');
    },
  };
}
