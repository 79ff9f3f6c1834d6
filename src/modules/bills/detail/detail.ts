import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import {
  countOfLines,
  findBill,
  linesOfBill,
  paymentsOfBill,
  type BillHeadRow,
  type BillLineRow,
  type PaymentRow,
} from './queries.js';

export type BillDetail = {
  query: QueryOf<'getCourierBill'>;
  bill: BillHeadRow;
  lines: BillLineRow[];
  totalLines: number;
  payments: PaymentRow[];
};

/**
 * Returns a bill with one page of its lines and all payments.
 * @throws ApiError bill_not_found, also if the courier may not see the bill
 */
export async function readBill(ctx: UserContext, query: QueryOf<'getCourierBill'>): Promise<BillDetail> {
  const { bill_id: billId } = query;
  const [[bill], lines, [counted], payments] = await ctx.read([
    findBill(ctx, billId),
    linesOfBill(ctx, billId, query),
    countOfLines(ctx, billId),
    paymentsOfBill(ctx, billId),
  ]);
  if (!bill) throw new ApiError('bill_not_found');
  return { query, bill, lines, totalLines: counted?.total ?? 0, payments };
}
