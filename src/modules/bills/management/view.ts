import type { ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { Adjusted } from '../payments/adjustment.js';
import type { CreatedDraft } from '../drafts/draft.js';
import type { Settled } from '../payments/payment.js';
import type { Published } from '../publication/publish.js';

type Reply = ReplyOf<'manageCourierBills'>;

export function viewCreated({ billId, invoiceNumber, drawn, warnings }: CreatedDraft): Reply {
  const total = drawn.total_packages;
  return done(`Bill of ${total === 1 ? '1 package' : `${total} packages`} drafted.`, {
    bill_id: billId,
    invoice_number: invoiceNumber,
    status: 'draft',
    total_packages: total,
    ...viewTotals(drawn),
    left_out: { already_billed: drawn.already_billed },
    warnings,
  });
}

export const viewAdjusted = (message: string, { billId, lineId, totals }: Adjusted): Reply =>
  done(message, { bill_id: billId, line_id: lineId, ...viewTotals(totals) });

export const viewPublished = ({ billId, row }: Published): Reply =>
  done(`Bill ${row.invoice_number} published.`, {
    bill_id: billId,
    invoice_number: row.invoice_number,
    status: row.status,
    published_at: formatDateTime(row.published_at),
    total_amount: Number(row.total_amount),
  });

export const viewSettled = (message: string, { billId, paymentId, row }: Settled): Reply =>
  done(message, {
    bill_id: billId,
    payment_id: paymentId,
    paid_amount: Number(row.paid_amount),
    balance: Number(row.balance),
    status: row.status,
  });

export const viewDeleted = (billId: string): Reply => done('Draft deleted.', { bill_id: billId });

const done = (message: string, data: Reply['data']): Reply => ({ statusCode: 200, message, data });

type Totals = Adjusted['totals'];

const viewTotals = ({ subtotal, tax_amount, total_amount }: Totals) => ({
  subtotal: Number(subtotal),
  tax_amount: Number(tax_amount),
  total_amount: Number(total_amount),
});
