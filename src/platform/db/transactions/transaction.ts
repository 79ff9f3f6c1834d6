import type pg from 'pg';
import { admit, enterWith, type Admission, type Session } from './admission.js';
import {
  firstMode,
  makePlanner,
  namedFor,
  ROLLBACK_TO,
  type PlannedQuery,
  type Planner,
  type Statement,
} from './plans.js';
import { makeLockOrder } from './lock-order.js';
import { runBatch, type StatementResult } from './send-batch.js';
import type { QueryConfig } from './submit.js';
import { traceStatements } from '../../tracing/trace-statements.js';
import type { ModelLease, ModelResult, ModelTransaction } from '../models/model-clients.js';
import type { ModelScope } from '../models/model-scope.js';
import type { Tx } from '../scope.js';
import { once, type Sql } from '../statements.js';

export const BEGIN = once`begin`;
const COMMIT = once`commit`;

/**
 * Makes a transaction in the session's scope. The statement that begins it and the admission are sent with its
 * first statements, and deferred statements with the next ones or with the commit: none of them costs a round trip (decision
 * 0047). The first statements of a refused caller find no rows under row-level security, and are rolled back.
 */
export function makeTransaction(client: pg.ClientBase, session: Session, begin: Sql) {
  const { db, scope } = session;
  const named = namedFor(db);
  const lockOrder = makeLockOrder();
  let plan: Planner | undefined;
  let admission: Admission | undefined;
  let lease: ModelLease | undefined;
  let hasEnded = false;
  let deferred: Statement[] = [];
  let last: (() => readonly Sql[])[] = [];
  let isDone = false;

  const runTraced = (queries: QueryConfig[], results?: StatementResult[]): Promise<StatementResult[]> =>
    traceStatements(db.span, queries, () => runBatch(client, queries, results));

  /** Sends the deferred statements and these, and returns the results of these. */
  async function send(statements: readonly Statement[]): Promise<StatementResult[]> {
    if (hasEnded) throw new Error('The transaction has ended.');
    const all = [...deferred, ...statements];
    deferred = [];
    const results = await (plan ? sendPlanned(plan(all)) : beginWith(all));
    return results.slice(results.length - statements.length);
  }

  async function sendPlanned(queries: PlannedQuery[]): Promise<StatementResult[]> {
    const results = await runTraced(queries);
    return results.filter((_, index) => !queries[index]?.isSetting);
  }

  async function beginWith(statements: readonly Statement[]): Promise<StatementResult[]> {
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
    admission = admit(session, rows as Admission[]);
  }

  function check(statement: Sql): void {
    if (last.length > 0 && ROLLBACK_TO.test(statement.text))
      throw new Error(
        'Work must not be rolled back to a savepoint after tx.last, which would still be sent.',
      );
    if (isDone) lockOrder.checkLast(statement);
    else lockOrder.check(statement);
  }

  function takeLast(): Sql[] {
    isDone = true;
    const statements = last.flatMap((make) => make());
    last = [];
    statements.forEach(check);
    return statements;
  }

  async function query(statements: Sql | readonly Sql[]): Promise<unknown> {
    const all = 'text' in statements ? [statements] : statements;
    all.forEach(check);
    const results = await send(all);
    const rows = results.map((result) => result.rows);
    return 'text' in statements ? rows[0] : rows;
  }

  /** Of an API key, the courier is known only once the database has admitted it. */
  async function modelScope(): Promise<ModelScope> {
    const { caller, tenantId } = scope;
    if (caller.kind !== 'key')
      return { tenantId, courierId: caller.kind === 'system' ? null : caller.courierId };
    await assertAdmitted();
    return { tenantId, courierId: admission?.courier_id ?? '' };
  }

  async function assertAdmitted(): Promise<void> {
    if (!admission) await send([]);
  }

  const modelTransaction: ModelTransaction = {
    applicationFilters: db.applicationFilters,
    scope: modelScope,
    admit: assertAdmitted,
    async send(query) {
      lockOrder.check(query);
      const [result] = await send([query]);
      if (!result) throw new Error('A model got no result.');
      const { rows, fields, count } = result;
      // The query asked for rows as arrays.
      return { rows: rows as unknown as ModelResult['rows'], fields, rowCount: count };
    },
  };

  const tx: Tx = {
    ...scope,
    get models() {
      if (hasEnded) throw new Error('The transaction has ended.');
      lease ??= db.models.lease(modelTransaction);
      return lease.models;
    },
    // The authors of the statements state the row types.
    query: query as Tx['query'],
    async count(statement) {
      check(statement);
      const [result] = await send([statement]);
      return result?.count ?? 0;
    },
    later(statement) {
      check(statement);
      deferred.push(statement);
    },
    last(make) {
      last.push(make);
    },
  };

  return {
    tx,
    /** Ends the work: sends the deferred statements and the last ones. */
    async finishWork(): Promise<void> {
      const statements = takeLast();
      if (deferred.length + statements.length > 0) await send(statements);
    },
    async commit(): Promise<void> {
      // COMMIT is not sent in one message with the check of the account, which may refuse the caller.
      await assertAdmitted();
      const ended = (await send([...takeLast(), COMMIT])).at(-1);
      hasEnded = true;
      // PostgreSQL rolls back a transaction in which a statement has failed, without an error.
      if (ended?.command !== 'COMMIT')
        throw new Error('The work caught the error of a statement without a savepoint. Nothing was stored.');
    },
    async rollback(): Promise<void> {
      hasEnded = true;
      if (plan) await client.query('rollback');
    },
    /** Ends the use of models. Call it once the connection is given back. */
    end(): void {
      lease?.end();
    },
  };
}
