import { Prisma } from '../../../generated/prisma/client.js';
import type { Caller } from '../identity/callers.js';

declare const ROW: unique symbol;

/** A statement and the type of the rows that it returns. */
export type Sql<Row = unknown> = Prisma.Sql & { readonly [ROW]?: Row; readonly isFixed?: boolean };

type Tag = <Row = unknown>(strings: readonly string[], ...values: readonly unknown[]) => Sql<Row>;

/** Makes a statement of a template. Its author states the type of the rows that it returns. PostgreSQL plans it with its values. */
export const sql: Tag = (strings, ...values) => Prisma.sql(strings, ...values);

/**
 * Makes a statement of a fixed text, whose plan suits every value: a row by its id, a page without filters, an insert. It is
 * prepared by name, and planned once per connection. Its texts must be few, because a connection keeps each (decision 0056).
 */
export const once: Tag = (strings, ...values) =>
  Object.assign(Prisma.sql(strings, ...values), { isFixed: true });

/** Returns `once` for a statement that is fixed only under a condition, and otherwise `sql`. */
export const onceIf = (isFixed: boolean): Tag => (isFixed ? once : sql);

export const { join, empty, raw } = Prisma;

/** Rows as the driver returns them. */
export type Rows = Record<string, unknown>[];

/** The rows of several statements, in their order. */
export type RowsOf<Statements extends readonly Sql[]> = {
  -readonly [Index in keyof Statements]: Statements[Index] extends Sql<infer Row> ? Row[] : never;
};

/** Prisma's models, with the caller's filters. */
export type Models = Pick<Prisma.TransactionClient, Uncapitalize<Prisma.ModelName>>;

/** A transaction in a caller's scope, without Prisma's models. Each call but `defer` waits for a round trip to PostgreSQL. */
export type PlainTx = {
  caller: Caller;
  query<Row>(statement: Sql<Row>): Promise<Row[]>;
  /** Runs statements that do not need each other's results, in their order and in one round trip. Returns the rows of each. */
  queryAll<const Statements extends readonly Sql[]>(statements: Statements): Promise<RowsOf<Statements>>;
  /** Returns the number of rows written. */
  execute(statement: Sql): Promise<number>;
  /**
   * Runs a statement whose result is not needed. It is sent with the next statement or with the commit, so its error rejects
   * that call or the transaction.
   */
  defer(statement: Sql): Promise<void>;
};

/** The same with Prisma's models. Prisma sends each statement in a round trip of its own. */
export type Tx = PlainTx & { models: Models };
