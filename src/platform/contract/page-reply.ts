import { countOf } from '../values/count-of.js';

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
  statusCode: 200 as const,
  message: `${countOf(total, noun)} found.`,
  data,
  meta: pageMeta(query, total),
});
