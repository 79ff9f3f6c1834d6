import type { UserCaller } from '../../../platform/identity/callers.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { pageOfDispatches, type DispatchQuery, type DispatchRow } from './queries.js';

export type DispatchPage = { rows: DispatchRow[]; limit: number; nextBefore: string | null };

/** What was dispatched, and where it stands: all of it for staff, for a courier what its own users asked for. */
export async function listDispatches(
  db: Db,
  caller: UserCaller,
  query: DispatchQuery,
): Promise<DispatchPage> {
  const { limit } = query;
  const [found] = await snapshot(db, caller, [pageOfDispatches(db, caller, query)]);
  // as: the shape that the statement selects
  const rows = found as DispatchRow[];
  const page = rows.slice(0, limit);
  return { rows: page, limit, nextBefore: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
