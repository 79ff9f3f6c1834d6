import { Prisma } from '../../../generated/prisma/client.js';
import type { Caller } from '../identity/callers.js';

export type Sql = Prisma.Sql;
export const { sql, join, empty, raw } = Prisma;

/** Rows as the driver returns them. The statement's author knows their columns. */
export type Rows = Record<string, unknown>[];

/** A transaction in a caller's scope, with Prisma's models and raw SQL. */
export type Tx = {
  models: Prisma.TransactionClient;
  caller: Caller;
  query<Row>(statement: Sql): Promise<Row[]>;
  /** Returns the number of rows written. */
  execute(statement: Sql): Promise<number>;
};

/** A transaction without Prisma's models. */
export type PlainTx = Omit<Tx, 'models'>;
