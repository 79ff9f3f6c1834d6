import { ownRows } from '../../../platform/db/filters.js';
import { sql } from '../../../platform/db/transaction.js';
import type { Ctx } from './context.js';
import type { BillRow } from '../list/queries.js';

/** Amounts are decimal text. */
export type LockedBill = {
  id: string;
  courier_id: string;
  invoice_number: string;
  status: BillRow['status'];
  subtotal: string;
  tax_amount: string;
  total_amount: string;
  paid_amount: string;
  balance: string;
};

/**
 * Selects a bill and locks it until the end of the transaction. Every change of a bill, its lines or its
 * payments takes this lock first. A publication locks the counter after it.
 */
export async function lockBill({ db, tx, caller }: Ctx, billId: string): Promise<LockedBill | undefined> {
  const rows = await tx.query<LockedBill>(sql`
    select b.id, b.courier_id, b.invoice_number, b.status, b.subtotal::text, b.tax_amount::text,
      b.total_amount::text, b.paid_amount::text, (b.total_amount - b.paid_amount)::text as balance
    from bills b where ${ownRows(db, caller, 'b')} and b.id = ${billId}::uuid
    for update`);
  return rows[0];
}
