import type { UserContext } from '../../../platform/context/request-context.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import type { BillRow } from '../shared/bill-row.js';
import { countOfBills, pageOfBills, type BillQuery } from './queries.js';

export type BillPage = { query: BillQuery; rows: BillRow[]; total: number };

/**
 * Returns stored bills: all couriers for staff; for a courier its own, without drafts.
 * @throws ApiError validation_failed
 */
export async function listBills(ctx: UserContext, query: BillQuery): Promise<BillPage> {
  if (query.from && query.to && query.to < query.from) {
    throw invalidFieldError('to', 'before', { other: 'from' });
  }
  const [rows, [counted]] = await ctx.read([pageOfBills(ctx, query), countOfBills(ctx, query)]);
  return { query, rows, total: counted?.total ?? 0 };
}
