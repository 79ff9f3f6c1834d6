import { ApiError } from '../../../platform/errors/errors.js';
import type { Ctx } from './context.js';
import { lockBill, type LockedBill } from './locked-bill-queries.js';

/**
 * Selects and locks a bill.
 * @throws ApiError bill_not_found
 */
export async function lockBillForUpdate(ctx: Ctx, billId: string): Promise<LockedBill> {
  const bill = await lockBill(ctx, billId);
  if (!bill) throw new ApiError('bill_not_found');
  return bill;
}

/**
 * The same for a draft, which can still be changed.
 * @throws ApiError bill_not_found, bill_not_draft
 */
export async function lockDraftForUpdate(ctx: Ctx, billId: string): Promise<LockedBill> {
  const bill = await lockBillForUpdate(ctx, billId);
  if (bill.status === 'draft') return bill;
  throw new ApiError('bill_not_draft', { args: { number: bill.invoice_number } });
}
