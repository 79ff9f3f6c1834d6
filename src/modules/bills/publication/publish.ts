import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { lockDraft, type ActionInput, type LockedBill } from '../shared/locked-bill.js';
import { emitBillEvents } from '../shared/bill-events.js';
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
    const row = await publishLocked(tx, bill);
    if (!row) throw new Error(`The lines of draft ${bill.id} do not add up to its total.`);
    await reportPublished(tx, [{ ...row, id: bill.id }]);
    return { billId: bill.id, row };
  });
}

/** Reports bills that the transaction has published to their couriers. A bill of 0.00 is also paid. Returns how many events that are at most. */
export async function reportPublished(
  tx: UserTx,
  bills: (Pick<PublishedRow, 'status'> & { id: string })[],
): Promise<number> {
  const ids = bills.map(({ id }) => id);
  const paid = bills.filter(({ status }) => status === 'paid').map(({ id }) => id);
  await emitBillEvents(tx, 'bill.published', ids);
  await emitBillEvents(tx, 'bill.paid', paid);
  return ids.length + paid.length;
}

/**
 * Publishes a draft that the transaction has locked. It locks the counter of the tenant's bills, so all drafts must be locked before the
 * first one is published. Returns undefined, and changes nothing, if the lines do not add up to the total.
 */
export async function publishLocked(
  tx: UserTx,
  { id, ...before }: Pick<LockedBill, 'id' | 'invoiceNumber' | 'status'>,
): Promise<PublishedRow | undefined> {
  const [row] = await tx.query(publishDraft(tx, id));
  if (!row) return undefined;
  auditLater(tx, 'bill.published', id, {
    before: { invoice_number: before.invoiceNumber, status: before.status },
    after: {
      invoice_number: row.invoiceNumber,
      sequence_number: row.sequenceNumber,
      status: row.status,
      due_date: row.dueDate,
    },
  });
  return row;
}
