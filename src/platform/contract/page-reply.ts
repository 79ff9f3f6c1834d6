import type { PageBefore } from '../context/read-page.js';
import { countOf } from '../values/count-of.js';
import { jsonRows } from './json-text.js';
import { reply } from './reply.js';

type PageQuery = { page: number; limit: number };

/** Where a page is in its list. */
export const pageMeta = ({ page, limit }: PageQuery, total: number) => ({
  current_page: page,
  per_page: limit,
  total_records: total,
  total_pages: Math.ceil(total / limit),
});

/**
 * The response with one page of a list.
 *
 * @param noun of one row; the plural has an s
 */
export const pageReply = <Data>(query: PageQuery, total: number, noun: string, data: Data) => ({
  ...reply(`${countOf(total, noun)} found.`, data),
  meta: pageMeta(query, total),
});

/** The response with one page of a list that goes on before its last row. Such lists have up to 500 rows, which may be large. */
export const pageBeforeReply = async <Row, View>(
  { rows, meta }: PageBefore<Row>,
  [one, several]: [one: string, several?: string],
  view: (row: Row) => View,
) => ({
  ...reply(`${countOf(rows.length, one, several)} on this page.`, await jsonRows(rows, view)),
  meta,
});
