import { ownRows } from '../../../platform/db/filters.js';
import type { Bill, DecimalText } from '../../../platform/db/models/types.js';
import { sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserScope, UserTx } from '../../../platform/db/scope.js';
import type { BillStatus } from './bill-row.js';
import { columns } from '../../../platform/db/columns.js';
import type { BodyOf } from '../../../platform/contract/types.js';

/** The body of an action of ManageCourierBills. */
export type ActionInput<Name> = Omit<Extract<BodyOf<'manageCourierBills'>, { action: Name }>, 'action'>;

const BILL = columns('Bill', 'b', [
  'id',
  'courierId',
  'invoiceNumber',
  'status',
  'subtotal',
  'taxAmount',
  'totalAmount',
  'paidAmount',
]);

export type LockedBill = RowOf<typeof BILL> & { status: BillStatus; balance: string };

/**
 * Selects a bill and locks it until the end of the transaction. Every change of a bill, its lines or its
 * payments takes this lock first. A publication locks the counter after it.
 *
 * @throws ApiError bill_not_found
 */
export async function lockBill(tx: UserTx, billId: string): Promise<LockedBill> {
  const [bill] = await tx.query(lockedBill(tx, billId));
  if (!bill) throw new ApiError('bill_not_found');
  return bill;
}

/**
 * The same for a draft, which can still be changed.
 * @throws ApiError bill_not_found, bill_not_draft
 */
export async function lockDraft(tx: UserTx, billId: string): Promise<LockedBill> {
  const bill = await lockBill(tx, billId);
  if (bill.status === 'draft') return bill;
  throw new ApiError('bill_not_draft', { args: { number: bill.invoiceNumber } });
}

const lockedBill = (ctx: UserScope, billId: string): Sql<LockedBill> =>
  sql`select ${BILL}, (b.total_amount - b.paid_amount)::text as balance
    from bills b where ${ownRows(ctx, 'b')} and b.id = ${billId}::uuid
    for update`;

/** The maximum of a bill's columns, numeric(12, 2). */
export const MAX_USD = '9999999999.99';

export type TotalsRow = DecimalText<Pick<Bill, 'subtotal' | 'taxAmount' | 'totalAmount'>>;

/** The totals in an audit entry. */
export const totalsAsColumns = ({ subtotal, taxAmount, totalAmount }: TotalsRow) => ({
  subtotal,
  tax_amount: taxAmount,
  total_amount: totalAmount,
});
