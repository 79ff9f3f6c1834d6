import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { lockDraft, type ActionInput } from '../shared/locked-bill.js';
import { publishDraft, type PublishedRow } from './publish-queries.js';

export type Published = { billId: string; row: PublishedRow };

/**
 * Publishes a draft and gives it its permanent number. From now on its courier sees it, and only its payments
 * can change. A bill of 0.00 is paid at once.
 * @throws ApiError bill_not_found, bill_not_draft
 */
export async function publishBill(
  ctx: UserContext,
  { bill_id: billId }: ActionInput<'publish'>,
): Promise<Published> {
  return ctx.write(async (tx) => {
    const bill = await lockDraft(tx, billId);
    const [row] = await tx.query(publishDraft(ctx, bill.id));
    if (!row) throw new Error(`The lines of draft ${bill.id} do not add up to its total.`);
    const { invoiceNumber, sequenceNumber, status, dueDate } = row;
    const before = { invoice_number: bill.invoiceNumber, status: bill.status };
    const after = {
      invoice_number: invoiceNumber,
      sequence_number: sequenceNumber,
      status,
      due_date: dueDate,
    };
    auditLater(tx, 'bill.published', bill.id, { before, after });
    return { billId: bill.id, row };
  });
}
