import { transaction } from '../../../platform/db/transaction.js';
import { record, type Change, type ActionInput } from '../shared/context.js';
import { lockDraftForUpdate } from '../shared/locked-bill.js';
import { publishDraft, type PublishedRow } from './publish-queries.js';

export type Published = { billId: string; row: PublishedRow };

/**
 * Publishes a draft and gives it its permanent number. From now on its courier sees it, and only its payments
 * can change. A bill of 0.00 is paid at once.
 * @throws ApiError bill_not_found, bill_not_draft
 */
export async function publishBill(change: Change, { bill_id }: ActionInput<'publish'>): Promise<Published> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const bill = await lockDraftForUpdate(ctx, bill_id);
    const row = await publishDraft(ctx, bill.id);
    if (!row) throw new Error(`The lines of draft ${bill.id} do not add up to it.`);
    const { invoice_number, sequence_number, status } = row;
    const before = { invoice_number: bill.invoice_number, status: bill.status };
    const after = { invoice_number, sequence_number, status };
    await record(ctx, { action: 'bill.published', billId: bill.id, before, after });
    return { billId: bill.id, row };
  });
}
