import type { Sql } from '../db/statements.js';
import type { UserContext } from './request-context.js';

/** One page of a list, and the number of all rows. */
export type Page<Row> = { rows: Row[]; total: number };

/** Reads one page and the number of all matching rows, in one round trip. */
export async function readPage<Row>(
  ctx: UserContext,
  page: Sql<Row>,
  count: Sql<{ total: number }>,
): Promise<Page<Row>> {
  const [rows, [counted]] = await ctx.read([page, count]);
  return { rows, total: counted?.total ?? 0 };
}

/** One page of a list that goes on before its last row. */
export type PageBefore<Row> = { rows: Row[]; meta: { limit: number; next_before: string | null } };

/** Reads a page of `limit` rows. The statement selects one row more, which shows that there is a next page (`limitPast`). */
export async function readPageBefore<Row extends { id: string }>(
  ctx: UserContext,
  statement: Sql<Row>,
  limit: number,
): Promise<PageBefore<Row>> {
  const [found] = await ctx.read([statement]);
  return pageBefore(found, limit);
}

/** Makes a page of rows that have been read: `limit` rows, and one more if there is a next page. */
export function pageBefore<Row extends { id: string }>(found: Row[], limit: number): PageBefore<Row> {
  const rows = found.slice(0, limit);
  return { rows, meta: { limit, next_before: found.length > limit ? (rows.at(-1)?.id ?? null) : null } };
}
