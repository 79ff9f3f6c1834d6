import { transaction } from '../../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import {
  deleteAdjustment,
  findBillOfAdjustment,
  insertAdjustment,
  subtractAmount,
  type TotalsRow,
} from './adjustment-queries.js';
import { record, MAX_USD, type Change, type ActionInput } from '../shared/context.js';
import { lockDraftForUpdate } from '../shared/locked-bill.js';

export type Adjusted = { billId: string; lineId: string; totals: TotalsRow };

/**
 * Adds a charge or a credit to a draft.
 * @throws ApiError validation_failed, bill_not_found, bill_not_draft, bill_total_negative, bill_too_large
 */
export async function addAdjustment(change: Change, input: ActionInput<'add_adjustment'>): Promise<Adjusted> {
  const { description, amount } = input;
  if (amount === 0) throw invalidFieldError('amount', 'zero');
  // The contract has limited the decimals, so nothing is rounded here.
  const amountUsd = amount.toFixed(2);
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const bill = await lockDraftForUpdate(ctx, input.bill_id);
    const line = { id: newId(), billId: bill.id, description, amountUsd };
    const totals = await insertAdjustment(ctx, line);
    if (!totals) throw amount < 0 ? new ApiError('bill_total_negative') : tooLarge();
    const after = { line_id: line.id, description, amount_usd: amountUsd, ...totals };
    const action = 'bill.adjustment_added';
    await record(ctx, { action, billId: bill.id, before: totalsOf(bill), after });
    return { billId: bill.id, lineId: line.id, totals };
  });
}

/**
 * Removes an adjustment from a draft.
 * @throws ApiError adjustment_not_found, bill_not_draft, bill_total_negative, bill_too_large
 */
export async function removeAdjustment(
  change: Change,
  { line_id: lineId }: ActionInput<'remove_adjustment'>,
): Promise<Adjusted> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const billId = await findBillOfAdjustment(ctx, lineId);
    if (!billId) throw new ApiError('adjustment_not_found');
    const bill = await lockDraftForUpdate(ctx, billId);
    const removed = await deleteAdjustment(ctx, lineId);
    // A concurrent request has already removed it.
    if (!removed) throw new ApiError('adjustment_not_found');
    const totals = await subtractAmount(ctx, bill.id, removed.amount_usd);
    if (!totals) throw removed.amount_usd.startsWith('-') ? tooLarge() : new ApiError('bill_total_negative');
    const before = { line_id: lineId, ...removed, ...totalsOf(bill) };
    await record(ctx, { action: 'bill.adjustment_removed', billId: bill.id, before, after: { ...totals } });
    return { billId: bill.id, lineId: before.line_id, totals };
  });
}

const totalsOf = ({ subtotal, tax_amount, total_amount }: TotalsRow) => ({
  subtotal,
  tax_amount,
  total_amount,
});

const tooLarge = () => new ApiError('bill_too_large', { variant: 'adjustment', args: { limit: MAX_USD } });
