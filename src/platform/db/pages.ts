import { raw, sql, type Sql } from './statements.js';

export type PageQuery = { page: number; limit: number };

/** The defaults of the contract's lists, and their usual maximum. */
const COMMON_LIMITS = new Set([20, 25, 50, 100]);

/** Whether pages of this size may be prepared. Few sizes may, because a connection keeps a plan for each. */
export const isCommonLimit = (limit: number): boolean => COMMON_LIMITS.has(limit);

/** Whether this is a first page of a common size. Unless something filters its rows, it is prepared (decision 0056). */
export const isCommonPage = ({ page, limit }: PageQuery): boolean => page === 1 && isCommonLimit(limit);

/**
 * Limits a statement to the rows of one page. A common page has its size in the text: a prepared statement is planned without
 * values, and PostgreSQL would assume that a tenth of all rows is read.
 */
export const limitTo = (query: PageQuery): Sql =>
  isCommonPage(query)
    ? raw(`limit ${query.limit}`)
    : sql`limit ${query.limit}::int offset (${query.page}::bigint - 1) * ${query.limit}::bigint`;

/** The same for pages that begin after a row: one row more, to detect a next page. */
export const limitPast = (limit: number): Sql =>
  isCommonLimit(limit) ? raw(`limit ${limit + 1}`) : sql`limit ${limit}::int + 1`;
