import type { ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { CreatedDraft } from '../drafts/draft.js';
import type { Adjusted } from '../payments/adjustment.js';
import type { Settled } from '../payments/payment.js';
import type { Published } from '../publication/publish.js';
import type { TotalsRow } from '../shared/totals.js';
import { countOf } from '../../../platform/values/count-of.js';

type Reply = ReplyOf<'manageCourierBills'>;

export function viewCreated({ billId, invoiceNumber, row, warnings }: CreatedDraft): Reply {
  const total = row.totalPackages;
  return done(`Bill of ${countOf(total, 'package')} drafted.`, {
    bill_id: billId,
    invoice_number: invoiceNumber,
    status: 'draft',
    total_packages: total,
    ...viewTotals(row),
    left_out: { already_billed: row.alreadyBilled },
    warnings,
  });
}

export const viewAdjusted = (message: string, { billId, lineId, totals }: Adjusted): Reply =>
  done(message, { bill_id: billId, line_id: lineId, ...viewTotals(totals) });

export const viewPublished = ({ billId, row }: Published): Reply =>
  done(`Bill ${row.invoiceNumber} published.`, {
    bill_id: billId,
    invoice_number: row.invoiceNumber,
    status: row.status,
    published_at: formatDateTime(row.publishedAt),
    total_amount: Number(row.totalAmount),
  });

export const viewSettled = (message: string, { billId, paymentId, row }: Settled): Reply =>
  done(message, {
    bill_id: billId,
    payment_id: paymentId,
    paid_amount: Number(row.paidAmount),
    balance: Number(row.balance),
    status: row.status,
  });

export const viewDeleted = (billId: string): Reply => done('Draft deleted.', { bill_id: billId });

const done = (message: string, data: Reply['data']): Reply => ({ statusCode: 200, message, data });

const viewTotals = ({ subtotal, taxAmount, totalAmount }: TotalsRow) => ({
  subtotal: Number(subtotal),
  tax_amount: Number(taxAmount),
  total_amount: Number(totalAmount),
});
