import type { UserCaller } from '../../../platform/identity/callers.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import {
  countLines,
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
export async function readBill(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'getCourierBill'>,
): Promise<BillDetail> {
  const { bill_id: billId, limit } = query;
  const page = { limit, offset: (query.page - 1) * limit };
  const [bills, lines, counted, payments] = await snapshot(db, caller, [
    findBill(db, caller, billId),
    linesOfBill(db, caller, billId, page),
    countLines(db, caller, billId),
    paymentsOfBill(db, caller, billId),
  ]);
  // The four statements select exactly these columns.
  const [bill] = bills as BillHeadRow[];
  if (!bill) throw new ApiError('bill_not_found');
  return {
    query,
    bill,
    lines: lines as BillLineRow[],
    totalLines: (counted as { total: number }[])[0]?.total ?? 0,
    payments: payments as PaymentRow[],
  };
}
