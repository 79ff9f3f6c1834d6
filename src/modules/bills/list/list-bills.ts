import type { UserCaller } from '../../../platform/identity/callers.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { countBills, pageOfBills, type BillQuery, type BillRow } from './queries.js';

export type BillPage = { query: BillQuery; rows: BillRow[]; total: number };

/**
 * Returns stored bills: all couriers for staff; for a courier its own, without drafts.
 * @throws ApiError validation_failed
 */
export async function loadBills(db: Db, caller: UserCaller, query: BillQuery): Promise<BillPage> {
  if (query.from && query.to && query.to < query.from) {
    throw invalidFieldError('to', 'before', { other: 'from' });
  }
  const [rows, counted] = await snapshot(db, caller, [
    pageOfBills(db, caller, query),
    countBills(db, caller, query),
  ]);
  // The two statements select exactly these columns.
  return { query, rows: rows as BillRow[], total: (counted as { total: number }[])[0]?.total ?? 0 };
}
