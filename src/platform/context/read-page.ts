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
