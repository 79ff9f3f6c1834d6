import { appendFacts, auditStatement, type AuditFact } from '../audit/audit.js';
import type { Combiner } from './combine-requests.js';
import type { Session } from '../db/transactions/admission.js';
import type { Db } from '../db/database.js';
import {
  flushReads,
  flushWrites,
  readReport,
  runModels,
  runPlain,
  SNAPSHOT,
  retryDeadlocks,
} from '../db/transactions/run.js';
import type { PlainOptions } from '../db/transactions/plain-transaction.js';
import type { PlainTx, RowsOf, Sql, Tx } from '../db/statements.js';
import type { UnitOfWork } from '../db/transactions/unit-of-work.js';
import type { Caller, SystemCaller, UserCaller } from '../identity/callers.js';
import type { NotedRateLimit } from '../rate-limits/rate-limits.js';
import {
  assertMayOpen,
  newState,
  noteAdmission,
  runWrite,
  whileOpen,
  type RequestState,
} from './request-state.js';

type Audited = {
  /** Appends facts to the audit trail, with the actor and the request of the context. The statement is deferred. */
  audit(...facts: AuditFact[]): Promise<void>;
};

/** A writing transaction with Prisma's models. */
export type ContextTx = Tx & Audited;
/** A writing transaction without Prisma's models. */
export type BulkTx = PlainTx & Audited;

/** How to read. */
export type Reading = {
  /**
   * For reports, which read much and may wait a moment. A replica serves them if it has replayed everything that was committed
   * before the call, and otherwise the primary does. See decision 0059.
   */
  from?: 'replica';
  /** The statement timeout, instead of the pool's own. */
  timeoutMs?: number;
};

type Read = {
  <const Statements extends readonly Sql[]>(
    statements: Statements,
    options?: Pick<Reading, 'from'>,
  ): Promise<RowsOf<Statements>>;
  <Result>(work: (tx: PlainTx) => Promise<Result>, options?: Reading): Promise<Result>;
};

/**
 * A handler's access to the database, on behalf of one caller. A request opens at most one writing transaction
 * (`transaction`, `preparedTransaction`, `bulkTransaction` or a pipeline), reads only before it or in it, and nests none. A call that breaks a
 * rule throws. See decision 0036.
 *
 * Every method throws ApiError token_invalid, token_expired, account_disabled or key_invalid if the database does not
 * admit the caller.
 */
export type RequestContext<Who extends Caller = Caller> = {
  readonly caller: Who;
  readonly tenantId: string;
  readonly requestId: string;
  /** The parent of the jobs and webhooks that the request causes. Undefined unless it is traced. */
  readonly traceparent: string | undefined;
  /** See ownRows and tenantRows. */
  readonly applicationFilters: boolean;
  /** Whether the database has admitted the caller during this request. */
  readonly isAdmitted: boolean;
  /** The limits that the request was counted against. The response describes them. */
  readonly rateLimits: NotedRateLimit[];
  /** Notes a limit, and what is left of it. The last call for a policy replaces earlier ones. */
  noteRateLimit(limit: NotedRateLimit): void;
  /** Only checks the caller's account. */
  assertAdmitted(): Promise<void>;
  /** As assertAdmitted, but also refuses a one-time password and a missing second factor where the operation allows them. */
  assertFullyAdmitted(): Promise<void>;
  /** Reads from one snapshot of the database, in one flush, or in several steps what is too much for one result. */
  read: Read;
  /**
   * Writes in one transaction. It runs again if PostgreSQL aborted it to resolve a deadlock, so `work` must have no effect
   * outside of it.
   */
  transaction<Result>(work: (tx: ContextTx) => Promise<Result>): Promise<Result>;
  /**
   * Like transaction, without Prisma, for hot paths: it costs fewer round trips and a fraction of the CPU time (decision 0047).
   */
  preparedTransaction<Result>(work: (tx: BulkTx) => Promise<Result>): Promise<Result>;
  /**
   * Like transaction, without Prisma: it passes parameters as JSON, and 8 MB of it blocked the event loop for 60 ms.
   *
   * @param timeoutMs the statement timeout, instead of the pool's own
   */
  bulkTransaction<Result>(timeoutMs: number, work: (tx: BulkTx) => Promise<Result>): Promise<Result>;
  /** Writes in one flush, for hot paths. The statements of a refused caller find and change nothing. */
  pipeline<const Statements extends readonly Sql[]>(statements: Statements): Promise<RowsOf<Statements>>;
  /**
   * Like pipeline, but requests of the same caller that wait at the same time share one transaction (decision 0066).
   *
   * @param item what this request writes
   * @param toStatements returns the statements for several items. The last one returns the outcomes, in any order.
   * @returns the outcome of the item, or undefined if there is none. Unless it is created, the request may still read.
   */
  combinedPipeline<Item, Outcome extends { position: number; isCreated: boolean }>(
    combiner: Combiner<Item, Outcome | undefined>,
    item: Item,
    toStatements: ToStatements<Item, Outcome>,
  ): Promise<Outcome | undefined>;
  /** The statement that appends facts to the audit trail, for a pipeline. */
  auditStatement(facts: AuditFact[]): Sql;
  /** The same for facts that a query selects; see appendFacts. */
  auditSelected(facts: Sql): Sql;
  /**
   * A context whose writing transaction commits independently, even if the request is refused later. Not available once the
   * request's own writing transaction has begun. A repetition with the same Idempotency-Key may run it again. State at the
   * call why one transaction is not enough.
   */
  independent(): RequestContext<Who>;
  /** The same request in the scope of the whole tenant. The audit trail still names the caller. */
  asSystem(): SystemContext;
  /** Makes the writing transaction commit together with a stored response (decision 0020). Only platform/idempotency uses it. */
  attachUnitOfWork(unit: UnitOfWork): void;
};

/** `position` of an outcome is the index of its item. */
export type ToStatements<Item, Outcome> = (items: readonly Item[]) => [...Sql[], Sql<Outcome>];

export type UserContext = RequestContext<UserCaller>;
export type SystemContext = RequestContext<SystemCaller>;

/**
 * Creates the context of a request. A background job or a script creates one for its own scope, with BACKGROUND as the request.
 */
export const makeContext = <Who extends Caller>(
  db: Db,
  caller: Who,
  requestId: string,
): RequestContext<Who> => contextOf({ db, caller, actor: caller, requestId, state: newState() });

/** The audit trail names the `actor`. It differs from `caller` only after asSystem. */
type Parts<Who> = { db: Db; caller: Who; actor: Caller; requestId: string; state: RequestState };

function contextOf<Who extends Caller>(parts: Parts<Who>): RequestContext<Who> {
  const { db, caller, actor, requestId, state } = parts;
  const auditSelected = (facts: Sql) => appendFacts(actor, requestId, facts);
  return {
    caller,
    tenantId: caller.tenantId,
    requestId,
    traceparent: db.span?.traceparent,
    get applicationFilters() {
      return db.applicationFilters;
    },
    get isAdmitted() {
      return state.isAdmitted;
    },
    get rateLimits() {
      return [...state.rateLimits.values()];
    },
    noteRateLimit(limit) {
      state.rateLimits.set(limit.policy, limit);
    },
    auditStatement: (facts) => auditStatement(actor, requestId, facts),
    auditSelected,
    ...readersOf(parts),
    ...writersOf(parts),
    independent: () => contextOf({ ...parts, state: newState(state) }),
    asSystem: () => contextOf({ ...parts, caller: { kind: 'system', tenantId: caller.tenantId } }),
    attachUnitOfWork(unit) {
      state.unitOfWork = unit;
    },
  };
}

type Readers = Pick<RequestContext, 'assertAdmitted' | 'assertFullyAdmitted' | 'read'>;

function readersOf(parts: Parts<Caller>): Readers {
  const { state, caller } = parts;
  const session = sessionOf(parts);
  return {
    async assertAdmitted() {
      assertMayOpen(state);
      await flushReads(session, []);
    },
    async assertFullyAdmitted() {
      assertMayOpen(state);
      await flushReads({ ...session, caller: withoutExemptions(caller) }, []);
    },
    read: makeRead(parts, session),
  };
}

function makeRead({ state }: Parts<Caller>, session: Session): Read {
  type Work = (tx: PlainTx) => Promise<unknown>;
  async function read(what: readonly Sql[] | Work, { from, timeoutMs }: Reading = {}): Promise<unknown> {
    const serve = (run: (on: Session) => Promise<unknown>) =>
      from === 'replica' ? readReport(session, run) : retryDeadlocks(() => run(session));
    if (typeof what === 'function')
      return whileOpen(state, () => serve((on) => runPlain(on, what, { begin: SNAPSHOT, timeoutMs })));
    assertMayOpen(state);
    return serve((on) => flushReads(on, what));
  }
  // The authors of the statements state the row types.
  return read as Read;
}

const withoutExemptions = (caller: Caller): Caller =>
  caller.kind === 'user' ? { ...caller, changesPassword: false, enrolsFactor: false } : caller;

type Writers = Pick<
  RequestContext,
  'transaction' | 'preparedTransaction' | 'bulkTransaction' | 'pipeline' | 'combinedPipeline'
>;

function writersOf(parts: Parts<Caller>): Writers {
  const { state, actor, requestId } = parts;
  const session = sessionOf(parts);
  const audited = <T extends PlainTx>(tx: T): T & Audited => ({
    ...tx,
    async audit(...facts) {
      await tx.defer(auditStatement(actor, requestId, facts));
    },
  });
  return {
    transaction: (work) =>
      runWrite(state, (around, unit) =>
        retryDeadlocks(() => runModels(session, (tx) => around(tx, () => work(audited(tx)))), unit),
      ),
    preparedTransaction: (work) => writePlain(parts, session, (tx) => work(audited(tx))),
    bulkTransaction: (timeoutMs, work) =>
      writePlain(parts, session, (tx) => work(audited(tx)), { timeoutMs }),
    pipeline: async (statements) => toTypedRows(statements, await pipelineOf(parts, session, statements)),
    combinedPipeline: (combiner, item, toStatements) =>
      combinedPipelineOf(parts, session, { combiner, item, toStatements }),
  };
}

function writePlain<Result>(
  { state }: Parts<Caller>,
  session: Session,
  work: (tx: PlainTx) => Promise<Result>,
  options?: PlainOptions,
): Promise<Result> {
  return runWrite<Result>(state, (around, unit) => {
    const run = (tx: PlainTx, flush: () => Promise<void>) =>
      around(tx, async () => {
        const result = await work(tx);
        // In a unit of work, the handler goes on before the commit, and must see the errors of deferred statements.
        if (unit) await flush();
        return result;
      });
    return retryDeadlocks(() => runPlain(session, run, options), unit);
  });
}

/** Sends the statements in one flush. In a unit of work, the flush follows the unit's first step. */
function pipelineOf({ state }: Parts<Caller>, session: Session, statements: readonly Sql[]) {
  return runWrite<unknown[][]>(state, (around, unit) =>
    unit
      ? runPlain(session, (tx) => around(tx, () => tx.queryAll(statements)))
      : around(NO_TX, () => flushWrites(session, statements)),
  );
}

type CombinedItem<Item, Outcome> = {
  combiner: Combiner<Item, Outcome | undefined>;
  item: Item;
  toStatements: ToStatements<Item, Outcome>;
};

/**
 * Only requests with the same API key are combined: users of one tenant have different scopes. A request with an Idempotency-Key or
 * a sampled trace has a transaction of its own.
 */
async function combinedPipelineOf<Item, Outcome extends { position: number; isCreated: boolean }>(
  parts: Parts<Caller>,
  session: Session,
  { combiner, item, toStatements }: CombinedItem<Item, Outcome>,
): Promise<Outcome | undefined> {
  const { state, caller, db } = parts;
  if (caller.kind !== 'key' || state.unitOfWork || db.span) {
    const results = await pipelineOf(parts, session, toStatements([item]));
    return outcomesOf<Outcome>(results, 1)[0];
  }
  const write = async (items: readonly Item[]) => {
    const results = await retryDeadlocks(() => flushWrites(session, toStatements(items)));
    return outcomesOf<Outcome>(results, items.length);
  };
  const outcome = await runWrite<Outcome | undefined>(state, (around) =>
    around(NO_TX, () => combiner.run(`${caller.tenantId} ${caller.keyHash}`, item, write)),
  );
  // The transaction may have run in the session of another request of the key, which noted it for that request alone.
  session.noteAdmitted();
  // The transaction wrote only for the other requests.
  if (!outcome?.isCreated) state.hasWritten = false;
  return outcome;
}

/** Returns the outcome of each item: the row of the last statement that has its position. */
function outcomesOf<Outcome extends { position: number }>(
  results: unknown[][],
  count: number,
): (Outcome | undefined)[] {
  // The author of the last statement states the type of its rows.
  const rows = (results.at(-1) ?? []) as Outcome[];
  const outcomes = Array.from<Outcome | undefined>({ length: count });
  for (const row of rows) outcomes[row.position] = row;
  return outcomes;
}

/** Without a unit of work, a pipeline has no first and no last step. */
const NO_TX = {
  query: refuseStatement,
  queryAll: refuseStatement,
};

function refuseStatement(): Promise<never> {
  return Promise.reject(new Error('A pipeline without a unit of work takes no further statement.'));
}

const sessionOf = ({ db, caller, actor, state }: Parts<Caller>): Session => ({
  db,
  caller,
  noteAdmitted() {
    // In the scope of the system, the caller's account is not checked.
    if (caller === actor) noteAdmission(state);
  },
});

/** The authors of the statements state the row types. */
const toTypedRows = <Statements extends readonly Sql[]>(_statements: Statements, rows: unknown[]) =>
  rows as RowsOf<Statements>;
