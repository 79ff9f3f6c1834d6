import { raw, sql, type Sql } from './statements.js';

export type PageQuery = { page: number; limit: number };

/** The defaults of the contract's lists, and their usual maximum. */
const COMMON_LIMITS = new Set([20, 25, 50, 100]);

/** Whether pages of this size may be prepared. Few sizes may, because a connection keeps a plan for each. */
export const isCommonLimit = (limit: number): boolean => COMMON_LIMITS.has(limit);

/** Whether this is a first page of a common size. Unless something filters its rows, it is prepared (decision 0056). */
export const isCommonPage = ({ page, limit }: PageQuery): boolean => page === 1 && isCommonLimit(limit);

/** The order of a list: columns of a table, all in one direction. */
export const orderBy = (alias: string, columns: readonly string[], direction: 'ASC' | 'DESC'): Sql =>
  sql`order by ${raw(columns.map((column) => `${alias}.${column} ${direction}`).join(', '))}`;

/**
 * Limits a statement to the rows of one page. A common page has its size in the text: a prepared statement is planned without
 * values, and PostgreSQL would assume that a tenth of all rows is read.
 */
export const limitTo = (query: PageQuery): Sql =>
  isCommonPage(query)
    ? raw(`limit ${query.limit}`)
    : sql`limit ${query.limit}::bigint offset (${query.page}::bigint - 1) * ${query.limit}::bigint`;

/** Limits a statement to a page that begins after a row, and one row more, which shows that there is a next page. */
export const limitPast = (limit: number): Sql =>
  isCommonLimit(limit) ? raw(`limit ${limit + 1}`) : sql`limit ${limit}::int + 1`;
