import type { Caller, PersonCaller, SystemCaller, UserCaller } from '../identity/callers.js';
import type { Models } from './models/types.js';
import type { NotedRateLimit } from '../limits/headers/rate-limits.js';
import type { RowsOf, Sql } from './statements.js';

/** Whose rows a statement may touch, and whom the audit trail names. A context is one, and so is a transaction. */
export type Scope<Who extends Caller = Caller> = {
  readonly caller: Who;
  /** Whom the audit trail names: the caller, also in the scope of the whole tenant. */
  readonly actor: Caller;
  readonly tenantId: string;
  readonly requestId: string;
  /** The parent of the jobs and webhooks that the request causes. Undefined unless it is traced. */
  readonly traceparent: string | undefined;
  /** See ownRows and tenantRows. */
  readonly applicationFilters: boolean;
  /** Notes a limit that the request was counted against, and what is left of it. The last call for a policy replaces earlier ones. */
  noteRateLimit(limit: NotedRateLimit): void;
};

/** A transaction that only reads. */
export type ReadTx<Who extends Caller = Caller> = Scope<Who> & {
  /** Returns the rows of a statement, or of several that do not need each other's results: all in one round trip. */
  query<const Statements extends readonly Sql[]>(statements: Statements): Promise<RowsOf<Statements>>;
  query<Row>(statement: Sql<Row>): Promise<Row[]>;
};

/** A transaction that writes. */
export type Tx<Who extends Caller = Caller> = ReadTx<Who> & {
  /** Returns the number of rows written. */
  count(statement: Sql): Promise<number>;
  /**
   * Runs a statement whose result is not needed. It is sent with the next statement or with the commit, so its error rejects
   * that call or the transaction.
   */
  later(statement: Sql): void;
  /**
   * Sends statements when the work is done, after all others. For rows that many transactions need, such as counters. `make` is
   * called then, so that a statement can contain what was added until then.
   */
  last(make: () => readonly Sql[]): void;
  /** Prisma's models, with the caller's filters. They run in this transaction, one round trip per call. */
  readonly models: Models;
};

export type UserScope = Scope<UserCaller>;
export type PersonScope = Scope<PersonCaller>;
export type SystemScope = Scope<SystemCaller>;
export type UserTx = Tx<UserCaller>;
export type PersonTx = Tx<PersonCaller>;
export type SystemTx = Tx<SystemCaller>;
