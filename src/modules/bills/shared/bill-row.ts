import type { DataOf } from '../../../platform/contract/types.js';
import { ownRows } from '../../../platform/db/filters.js';
import type { Bill, DecimalText } from '../../../platform/db/models/types.js';
import { raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

export type BillStatus = DataOf<'listCourierBills'>[number]['status'];

/** A bill in a list. Dates are text. */
export type BillRow = DecimalText<
  Pick<
    Bill,
    | 'id'
    | 'invoiceNumber'
    | 'courierId'
    | 'serviceType'
    | 'totalPackages'
    | 'taxRate'
    | 'subtotal'
    | 'taxAmount'
    | 'totalAmount'
    | 'paidAmount'
    | 'createdAt'
    | 'publishedAt'
  >
> & {
  courierName: string;
  courierCode: string;
  startDate: string;
  endDate: string;
  balance: string;
  status: BillStatus;
};

/** The columns of a BillRow, from `bills b` and its `couriers c`. */
export const billColumns = raw(
  `b.id, b.invoice_number as "invoiceNumber", b.courier_id as "courierId", c.name as "courierName",
  c.code as "courierCode", b.service_type as "serviceType", b.start_date as "startDate", b.end_date as "endDate",
  b.total_packages as "totalPackages", b.tax_rate as "taxRate", b.subtotal, b.tax_amount as "taxAmount",
  b.total_amount as "totalAmount", b.paid_amount as "paidAmount", b.total_amount - b.paid_amount as balance, b.status,
  b.created_at as "createdAt", b.published_at as "publishedAt"`,
);

/**
 * The application's own filter on `bills b`: a courier sees only its own bills, and no drafts. Row-level security
 * enforces the same.
 */
export function visibleBills(ctx: UserScope): Sql {
  const own = ownRows(ctx, 'b');
  return ctx.caller.courierId !== null && ctx.applicationFilters ? sql`${own} and b.status <> 'draft'` : own;
}
