import { Prisma } from '../../../generated/prisma/client.js';

declare const ROW: unique symbol;

/** What an advisory lock or a counter's row protects. `transactions/lock-order.ts` has their order. */
export type LockKind =
  | 'administrators'
  | 'audit chain'
  | 'corrections'
  | 'event counters'
  | 'label station'
  | 'parcels'
  | 'print'
  | 'rates'
  | 'reset mails'
  | 'security settings'
  | 'tenant settings'
  | 'payment terms'
  | 'service tokens'
  | 'uploads'
  | 'batches'
  | 'user codes'
  | 'warehouses';

/** Locks that a statement takes, all of one kind. */
export type Locks = { kind: LockKind; names: readonly string[]; isShared: boolean };

/** A statement and the type of the rows that it returns. */
export type Sql<Row = unknown> = Prisma.Sql & {
  readonly [ROW]?: Row;
  readonly isFixed?: boolean;
  readonly locks?: readonly Locks[];
};

type Tag = <Row = unknown>(strings: readonly string[], ...values: readonly unknown[]) => Sql<Row>;

/** Makes a statement of a template. Its author states the type of the rows that it returns. PostgreSQL plans it with its values. */
export const sql: Tag = (strings, ...values) => Prisma.sql(strings, ...values);

/**
 * Makes a statement that PostgreSQL plans once per connection, and executes any number of times with this plan. For a fixed text whose
 * plan suits every value: a row by its id, a page without filters, an insert. It is prepared by name. Its texts must be few, because a
 * connection keeps each (decision 0056).
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

/** The rows of one statement, or those that a list of columns has. */
export type RowOf<Statement extends Sql> = Statement extends Sql<infer Row> ? Row : never;

/** A row of a left join. */
export type OrNull<Row> = { [Name in keyof Row]: Row[Name] | null };
