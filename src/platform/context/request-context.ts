import type { Db } from '../db/database.js';
import type { ReadTx, Scope } from '../db/scope.js';
import type { RowsOf, Sql } from '../db/statements.js';
import type { Session } from '../db/transactions/admission.js';
import { readAtOnce, writeAtOnce } from '../db/transactions/at-once.js';
import { readInSteps, retryDeadlocks } from '../db/transactions/open-transaction.js';
import { readFromReplica } from '../db/transactions/replica-read.js';
import type {
  Caller,
  PersonCaller,
  SubmittingCaller,
  SystemCaller,
  UserCaller,
} from '../identity/callers.js';
import type { NotedRateLimit } from '../limits/headers/rate-limits.js';
import {
  assertMayOpen,
  newState,
  whileOpen,
  type Hold,
  type NotedWrites,
  type RequestState,
} from './request-state.js';
import { combinedKeyOf, outcomesOf, type Placed, type SharedWrite } from './shared-write.js';
import { makeWrite, type Write } from './write.js';

/** How to read. */
type Reading = {
  /**
   * For reports, which read much and may wait a moment. A replica serves them if it has replayed everything that was committed
   * before the call, and otherwise the primary does. See decision 0059.
   */
  from?: 'replica';
  /** The statement timeout, instead of the pool's own. */
  timeoutMs?: number;
};

type Read<Who extends Caller> = {
  <const Statements extends readonly Sql[]>(
    statements: Statements,
    options?: Pick<Reading, 'from'>,
  ): Promise<RowsOf<Statements>>;
  <Result>(work: (tx: ReadTx<Who>) => Promise<Result>, options?: Reading): Promise<Result>;
};

/**
 * A handler's access to the database, on behalf of one caller. A request opens at most one writing transaction, reads only before
 * it or in it, and nests none. A call that breaks a rule throws. See decisions 0036 and 0090.
 *
 * Every method throws ApiError token_invalid, token_expired, account_disabled or key_invalid if the database does not
 * admit the caller.
 */
export type RequestContext<Who extends Caller = Caller> = Scope<Who> & {
  /** Whether the database has admitted the caller during this request. */
  readonly isAdmitted: boolean;
  /** Whether a transaction of the request has written. */
  readonly hasWritten: boolean;
  /** What the request has written, if its body does not say. */
  readonly written: NotedWrites;
  /** Notes it. The last call counts. */
  noteWrites(written: NotedWrites): void;
  /**
   * Names the courier for which a request without a credential writes, before it does: it counts against the courier's allowance.
   * @throws ApiError quota_exceeded
   */
  writeFor(courierId: string): Promise<void>;
  /** Sets how the allowance of a courier is taken. Only platform/http calls it. */
  setAllowance(takeFor: (courierId: string) => Promise<void>): void;
  /** The limits that the request was counted against. The response describes them. */
  readonly rateLimits: NotedRateLimit[];
  /** Only checks the caller's account. Only platform/http calls it: every transaction checks the account, too. */
  assertAdmitted(): Promise<void>;
  /** Reads from one snapshot of the database: statements in one round trip, or in several steps what is too much for one result. */
  read: Read<Who>;
  /**
   * The request's one writing transaction: statements in one round trip, or work that decides between them. It runs again if PostgreSQL
   * aborted it to resolve a deadlock, so `work` must have no effect outside of it. The statements of a refused caller find and
   * change nothing.
   */
  write: Write<Who>;
  /**
   * Writes an item together with those of other requests of the same API key that wait (decision 0066).
   *
   * @returns the outcome of the item, or undefined if there is none. Unless it is created, the request may still read.
   */
  writeTogether<Item, Outcome extends Placed>(
    shared: SharedWrite<Item, Outcome>,
    item: Item,
  ): Promise<Outcome | undefined>;
  /** The same request in the scope of the whole tenant. The caller's account is still checked, and the audit trail names it. */
  asTenant(): SystemContext;
  /** The same request of a caller whose one-time password or missing second factor is refused. Only platform/http uses it. */
  withoutExemptions(): RequestContext<Who>;
  /**
   * Keeps the writing transaction open when its work is done, for what must be stored with it: the response of a request with an
   * Idempotency-Key (decision 0020), and the step of a life in a sandbox (decision 0151). Nothing else uses it.
   *
   * @param first runs in the transaction before the work
   */
  holdWrite(first: Hold['first']): Hold;
};

export type UserContext = RequestContext<UserCaller>;
/** Of an operation that takes no service token. */
export type PersonContext = RequestContext<PersonCaller>;
export type SystemContext = RequestContext<SystemCaller>;

/**
 * Creates the context of a request. A background job or a script creates one for its own scope, with BACKGROUND as the request.
 */
export const makeContext = <Who extends Caller>(
  db: Db,
  caller: Who,
  requestId: string,
): RequestContext<Who> => contextOf({ db, caller, actor: caller, requestId, state: newState() });

type Parts<Who> = { db: Db; caller: Who; actor: Caller; requestId: string; state: RequestState };

function contextOf<Who extends Caller>(parts: Parts<Who>): RequestContext<Who> {
  const { db, caller, state } = parts;
  const scope = scopeOf(parts);
  const session = sessionOf(parts, scope);
  const write = makeWrite<Who>(state, session);
  return {
    ...scope,
    get isAdmitted() {
      return state.isAdmitted;
    },
    get hasWritten() {
      return state.hasWritten || state.hasKept;
    },
    get written() {
      return state.written;
    },
    noteWrites(written) {
      state.written = written;
    },
    async writeFor(courierId) {
      await state.takeFor?.(courierId);
    },
    setAllowance(takeFor) {
      state.takeFor = takeFor;
    },
    get rateLimits() {
      return [...state.rateLimits.values()];
    },
    async assertAdmitted() {
      assertMayOpen(state);
      await readAtOnce(session, []);
    },
    read: makeRead(state, session),
    write,
    writeTogether: (shared, item) => writeTogether({ db, state, session, write }, shared, item),
    withoutExemptions() {
      state.isAdmitted = false;
      const strict = { ...caller, changesPassword: false, enrolsFactor: false };
      return contextOf({ ...parts, caller: strict, actor: strict });
    },
    asTenant: () => contextOf({ ...parts, caller: systemCallerOf(caller) }),
    holdWrite(first) {
      state.hold = { first, transaction: undefined };
      return state.hold;
    },
  };
}

/** The database's connections are still those of the caller, or without a user or a key those of the client's network. */
const systemCallerOf = (caller: Caller): SystemCaller =>
  caller.kind === 'system' ? caller : { kind: 'system', tenantId: caller.tenantId, onBehalfOf: caller };

const scopeOf = <Who extends Caller>({ db, caller, actor, requestId, state }: Parts<Who>): Scope<Who> => ({
  caller,
  actor,
  tenantId: caller.tenantId,
  requestId,
  traceparent: db.span?.traceparent,
  applicationFilters: db.applicationFilters,
  noteRateLimit(limit) {
    state.rateLimits.set(limit.policy, limit);
  },
});

const sessionOf = ({ db, state }: Parts<Caller>, scope: Scope): Session => ({
  db,
  scope,
  noteAdmitted() {
    state.isAdmitted = true;
  },
  isContinued: () => state.isAdmitted,
});

function makeRead<Who extends Caller>(state: RequestState, session: Session): Read<Who> {
  type Work = (tx: ReadTx) => Promise<unknown>;
  async function read(what: readonly Sql[] | Work, { from, timeoutMs }: Reading = {}): Promise<unknown> {
    const serve = (run: (on: Session) => Promise<unknown>) =>
      from === 'replica' ? readFromReplica(session, run) : retryDeadlocks(() => run(session));
    if (typeof what === 'function')
      return whileOpen(state, () => serve((on) => readInSteps(on, what, timeoutMs)));
    assertMayOpen(state);
    return serve((on) => readAtOnce(on, what));
  }
  // The authors of the statements state the row types, and the session is that of the caller.
  return read as Read<Who>;
}

type Writer = { db: Db; state: RequestState; session: Session; write: Write<Caller> };

/**
 * Only requests with the same API key share a transaction: users of one tenant have different scopes. A request with an
 * Idempotency-Key or a sampled trace has a transaction of its own.
 */
async function writeTogether<Item, Outcome extends Placed>(
  { db, state, session, write }: Writer,
  { toStatements, combinerOf, waitingOf }: SharedWrite<Item, Outcome>,
  item: Item,
): Promise<Outcome | undefined> {
  const { scope } = session;
  if (!isOfKey(scope)) throw new Error('Only requests with an API key write together.');
  if (state.hold || db.span) {
    const [own] = outcomesOf<Outcome>(await write(toStatements(scope, [item], true)), 1);
    if (!own?.isCreated) await endHeldWrite(state);
    return own;
  }
  // The combiner refuses what would wait too long. Its transactions are of many requests.
  const shared = { ...session, isContinued: () => true };
  const writeItems = (waits: boolean) => async (items: readonly Item[]) => {
    const results = await retryDeadlocks(() => writeAtOnce(shared, toStatements(scope, items, waits)));
    return outcomesOf<Outcome>(results, items.length);
  };
  const key = combinedKeyOf(scope.caller);
  const outcome = await whileOpen(state, async () => {
    const first = await combinerOf(db).run(key, item, writeItems(false));
    return first?.isBlocked ? waitingOf(db).run(key, item, writeItems(true)) : first;
  });
  // The transaction may have run in the session of another request of the key, which noted it for that request alone.
  session.noteAdmitted();
  // Otherwise the transaction wrote only for the other requests.
  if (outcome?.isCreated) state.hasWritten = true;
  return outcome;
}

/** Ends a held transaction that wrote nothing, so that a refusal is not stored in it and the request may still read. */
async function endHeldWrite(state: RequestState): Promise<void> {
  const transaction = state.hold?.transaction;
  if (state.hold) state.hold.transaction = undefined;
  await transaction?.rollback(undefined);
  state.hasWritten = false;
}

const isOfKey = (scope: Scope): scope is Scope<SubmittingCaller> =>
  scope.caller.kind === 'key' || scope.caller.kind === 'token';
