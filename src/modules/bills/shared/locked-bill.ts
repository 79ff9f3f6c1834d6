import { Fault } from '../../../platform/errors/errors.js';
import type { Ctx } from './context.js';
import { lockBill, type HeldBill } from './locked-bill-queries.js';

/** Reads and holds a bill. @throws Fault bill_not_found */
export async function holdBill(ctx: Ctx, billId: string): Promise<HeldBill> {
  const bill = await lockBill(ctx, billId);
  if (!bill) throw new Fault('bill_not_found');
  return bill;
}

/** The same of one that can still be changed. @throws Fault bill_not_found, bill_not_draft */
export async function holdDraft(ctx: Ctx, billId: string): Promise<HeldBill> {
  const bill = await holdBill(ctx, billId);
  if (bill.status === 'draft') return bill;
  throw new Fault(
    'bill_not_draft',
    `Bill ${bill.invoice_number} is published and stays as it is. Put a correction on the next bill as an adjustment.`,
  );
}
