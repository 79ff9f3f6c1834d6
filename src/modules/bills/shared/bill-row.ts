import type { DataOf } from '../../../platform/contract/types.js';
import { ownRows, type FilterScope, type Reader } from '../../../platform/db/filters.js';
import { columns } from '../../../platform/db/columns.js';
import { sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { currencyOf } from '../../tenant-settings/public.js';
import { mailStatus } from './mailed.js';

/** Who reads bills: the caller of a request, or the courier that gets a mail. */
export type BillScope = FilterScope<Reader>;

export type BillStatus = DataOf<'listCourierBills'>[number]['status'];
type MailStatus = DataOf<'listBillMails'>[number]['status'];

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
  RowOf<typeof COURIER> & {
    startDate: string;
    endDate: string;
    balance: string;
    status: BillStatus;
    dueDate: string | null;
    isOverdue: boolean;
    mailStatus: MailStatus | null;
    /** A code of ISO 4217. It cannot change after the first publication. */
    currency: string;
  };

/** The payment terms of a tenant that has set none, and of bills that a release without due dates published. */
export const DEFAULT_TERMS_DAYS = 30;

/** The last day to pay of a published bill `b`, in UTC. */
export const dueDateOfPublished = sql`coalesce(b.due_date,
  (coalesce(b.published_at, b.created_at) at time zone 'UTC')::date + ${DEFAULT_TERMS_DAYS}::int)`;

/** Whether the bill `b` is overdue. A published bill has a balance, because the payment that settles it changes the status. */
export const isOverdue = sql`(b.status = 'published' and ${dueDateOfPublished} < (now() at time zone 'UTC')::date)`;

/** The columns of a BillRow, from `bills b` and its `couriers c`. */
export const billColumns = (
  ctx: BillScope,
): Sql => sql`${BILL}, ${COURIER}, b.total_amount - b.paid_amount as balance,
  case when b.status <> 'draft' then ${dueDateOfPublished} end as "dueDate", ${isOverdue} as "isOverdue",
  ${mailStatus(ctx)} as "mailStatus", ${currencyOf(ctx)} as currency`;

/**
 * The application's own filter on `bills b`: a courier sees only its own bills, and no drafts. Row-level security
 * enforces the same.
 */
export function visibleBills(ctx: BillScope): Sql {
  const own = ownRows(ctx, 'b');
  return ctx.caller.courierId !== null && ctx.applicationFilters ? sql`${own} and b.status <> 'draft'` : own;
}
