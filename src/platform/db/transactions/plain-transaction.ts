import type pg from 'pg';
import {
  admit,
  enterWith,
  preparing,
  toQuery,
  type Admission,
  type Prepare,
  type QueryConfig,
  type Session,
} from './admission.js';
import { runBatch, type StatementResult } from './send-batch.js';
import { traceStatements } from '../../tracing/trace-statements.js';
import { sql, type PlainTx, type RowsOf, type Sql } from '../statements.js';

export type PlainOptions = {
  /** The statement that begins the transaction. */
  begin?: Sql;
  /** Whether its statements are prepared by name. */
  isPrepared?: boolean;
  /** The statement timeout, instead of the pool's own. */
  timeoutMs?: number;
};

export type PlainTransaction = {
  tx: PlainTx;
  /** Sends the deferred statements. */
  flush(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
};

const BEGIN = sql`begin`;
const COMMIT = sql`commit`;

/**
 * Makes a transaction of plain SQL in the session's scope. The statement that begins it and the admission are sent with its
 * first statements, and deferred statements with the next ones or with the commit: none of them costs a round trip (decision
 * 0047). The first statements of a refused caller find no rows under row-level security, and are rolled back.
 */
export function makePlainTransaction(
  client: pg.ClientBase,
  session: Session,
  { begin = BEGIN, isPrepared = false }: PlainOptions = {},
): PlainTransaction {
  const prepareOwn = preparing(session.db);
  const prepare: Prepare = isPrepared ? prepareOwn : toQuery;
  let state: 'new' | 'begun' | 'admitted' = 'new';
  let deferred: QueryConfig[] = [];

  const runTraced = (queries: QueryConfig[], results?: StatementResult[]): Promise<StatementResult[]> =>
    traceStatements(session.db.span, queries, () => runBatch(client, queries, results));

  /** Sends the deferred statements and these, and returns the results of these. */
  async function send(queries: QueryConfig[]): Promise<StatementResult[]> {
    const all = [...deferred, ...queries];
    deferred = [];
    const results = await (state === 'new' ? beginWith(all) : runTraced(all));
    return results.slice(results.length - queries.length);
  }

  async function beginWith(queries: QueryConfig[]): Promise<StatementResult[]> {
    state = 'begun';
    const results: StatementResult[] = [];
    try {
      return await runTraced(
        [prepareOwn(begin), prepareOwn(enterWith(session, isPrepared)), ...queries],
        results,
      );
    } finally {
      // After a failure too, because the scope of a refused caller may be its reason.
      const [, entered] = results;
      if (entered) enter(entered);
    }
  }

  function enter({ rows }: StatementResult): void {
    // enterScope selects these columns.
    admit(session, rows as Admission[]);
    state = 'admitted';
  }

  const queryAll = async <const Statements extends readonly Sql[]>(
    statements: Statements,
  ): Promise<RowsOf<Statements>> => {
    const results = await send(statements.map(prepare));
    // The authors of the statements state the row types.
    return results.map(({ rows }) => rows) as RowsOf<Statements>;
  };

  return {
    tx: {
      caller: session.caller,
      queryAll,
      query: async (statement) => (await queryAll([statement]))[0],
      async execute(statement) {
        const [result] = await send([prepare(statement)]);
        return result?.count ?? 0;
      },
      async defer(statement) {
        deferred.push(prepare(statement));
      },
    },
    async flush() {
      if (deferred.length > 0) await send([]);
    },
    async commit() {
      // Not together with the admission, which may refuse the caller.
      if (state !== 'admitted') await send([]);
      await send([prepareOwn(COMMIT)]);
    },
    async rollback() {
      if (state !== 'new') await client.query('rollback');
    },
  };
}
