import type { UserCaller } from '../../../platform/identity/callers.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { pageOfDispatches, type DispatchQuery, type DispatchRow } from './queries.js';

export type DispatchPage = { rows: DispatchRow[]; limit: number; nextBefore: string | null };

/** Returns dispatches and their progress. Staff see all dispatches, a courier sees those of its own users. */
export async function listDispatches(
  db: Db,
  caller: UserCaller,
  query: DispatchQuery,
): Promise<DispatchPage> {
  const { limit } = query;
  const [found] = await snapshot(db, caller, [pageOfDispatches(db, caller, query)]);
  // The statement selects exactly these columns.
  const rows = found as DispatchRow[];
  const page = rows.slice(0, limit);
  return { rows: page, limit, nextBefore: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
