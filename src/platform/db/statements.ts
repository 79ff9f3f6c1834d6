import { Prisma } from '../../../generated/prisma/client.js';
import type { Caller } from '../identity/callers.js';

declare const ROW: unique symbol;

/** A statement and the type of the rows that it returns. */
export type Sql<Row = unknown> = Prisma.Sql & { readonly [ROW]?: Row };

/** Makes a statement of a template. Its author states the type of the rows that it returns. */
export const sql = <Row = unknown>(strings: readonly string[], ...values: readonly unknown[]): Sql<Row> =>
  Prisma.sql(strings, ...values);

export const { join, empty, raw } = Prisma;

/** Rows as the driver returns them. */
export type Rows = Record<string, unknown>[];

/** The rows of several statements, in their order. */
export type RowsOf<Statements extends readonly Sql[]> = {
  -readonly [Index in keyof Statements]: Statements[Index] extends Sql<infer Row> ? Row[] : never;
};

/** Prisma's models, with the caller's filters. */
export type Models = Pick<Prisma.TransactionClient, Uncapitalize<Prisma.ModelName>>;

/** A transaction in a caller's scope, with Prisma's models and raw SQL. */
export type Tx = {
  models: Models;
  caller: Caller;
  query<Row>(statement: Sql<Row>): Promise<Row[]>;
  /** Returns the number of rows written. */
  execute(statement: Sql): Promise<number>;
};

/** A transaction without Prisma's models. */
export type PlainTx = Omit<Tx, 'models'>;
