import type { DataOf } from '../../../platform/contract/types.js';
import { ownRows } from '../../../platform/db/filters.js';
import { columns } from '../../../platform/db/columns.js';
import { sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

export type BillStatus = DataOf<'listCourierBills'>[number]['status'];

const BILL = columns('Bill', 'b', [
  'id',
  'invoiceNumber',
  'courierId',
  'serviceType',
  'startDate',
  'endDate',
  'totalPackages',
  'taxRate',
  'subtotal',
  'taxAmount',
  'totalAmount',
  'paidAmount',
  'status',
  'createdAt',
  'publishedAt',
]);
const COURIER = columns('Courier', 'c', { courierName: 'name', courierCode: 'code' });

/** A bill in a list. Dates are text. */
export type BillRow = Omit<RowOf<typeof BILL>, 'startDate' | 'endDate' | 'status'> &
  RowOf<typeof COURIER> & { startDate: string; endDate: string; balance: string; status: BillStatus };

/** The columns of a BillRow, from `bills b` and its `couriers c`. */
export const billColumns = sql`${BILL}, ${COURIER}, b.total_amount - b.paid_amount as balance`;

/**
 * The application's own filter on `bills b`: a courier sees only its own bills, and no drafts. Row-level security
 * enforces the same.
 */
export function visibleBills(ctx: UserScope): Sql {
  const own = ownRows(ctx, 'b');
  return ctx.caller.courierId !== null && ctx.applicationFilters ? sql`${own} and b.status <> 'draft'` : own;
}
