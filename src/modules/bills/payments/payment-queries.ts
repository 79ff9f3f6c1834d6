import { ownRows } from '../../../platform/db/filters.js';
import { sql } from '../../../platform/db/transaction.js';
import type { Ctx } from '../shared/context.js';
import type { LockedBill } from '../shared/locked-bill-queries.js';
import type { BillRow } from '../list/queries.js';

/** Amounts are decimal text. */
export type SettledRow = { paid_amount: string; balance: string; status: BillRow['status'] };

/** Returns the database's date in UTC, `YYYY-MM-DD`. */
export async function findToday({ tx }: Ctx): Promise<string> {
  const [row] = await tx.query<{ today: string }>(
    sql`select (now() at time zone 'UTC')::date::text as today`,
  );
  if (!row) throw new Error('The database does not know the day.');
  return row.today;
}

export type NewPayment = {
  id: string;
  amountUsd: string;
  method: string;
  reference: string | null;
  receivedOn: string;
};

/** Stores a payment and updates the balance. Returns undefined if the balance would be negative. */
export async function insertPayment(
  { db, tx, caller }: Ctx,
  bill: LockedBill,
  payment: NewPayment,
): Promise<SettledRow | undefined> {
  const { id, amountUsd, method, reference, receivedOn } = payment;
  const rows = await tx.query<SettledRow>(sql`
    with settled as (
      update bills b set paid_amount = b.paid_amount + ${amountUsd}::numeric,
        status = case when b.paid_amount + ${amountUsd}::numeric = b.total_amount then 'paid' else 'published' end
      where ${ownRows(db, caller, 'b')} and b.id = ${bill.id}::uuid and b.status = 'published'
        and b.paid_amount + ${amountUsd}::numeric <= b.total_amount
      returning b.tenant_id, b.id, b.courier_id, b.paid_amount, b.total_amount, b.status),
    stored as (
      insert into bill_payments (tenant_id, id, bill_id, courier_id, amount_usd, method, reference, received_on)
      select tenant_id, ${id}::uuid, id, courier_id, ${amountUsd}::numeric, ${method}, ${reference}, ${receivedOn}::date
      from settled)
    select paid_amount::text, (total_amount - paid_amount)::text as balance, status from settled`);
  return rows[0];
}

/** Returns the bill of a payment, or undefined if the tenant has no such payment. */
export async function findBillOfPayment(
  { db, tx, caller }: Ctx,
  paymentId: string,
): Promise<string | undefined> {
  const rows = await tx.query<{ bill_id: string }>(sql`
    select p.bill_id from bill_payments p where ${ownRows(db, caller, 'p')} and p.id = ${paymentId}::uuid`);
  return rows[0]?.bill_id;
}

/** Voids a payment and increases the bill's balance. Returns undefined if it was already void. */
export async function markVoid(
  { db, tx, caller }: Ctx,
  paymentId: string,
  reason: string,
): Promise<(SettledRow & { amount_usd: string }) | undefined> {
  const rows = await tx.query<SettledRow & { amount_usd: string }>(sql`
    with voided as (
      update bill_payments p set voided_at = now(), void_reason = ${reason}
      where ${ownRows(db, caller, 'p')} and p.id = ${paymentId}::uuid and p.voided_at is null
      returning p.tenant_id, p.bill_id, p.amount_usd)
    update bills b set paid_amount = b.paid_amount - v.amount_usd, status = 'published'
    from voided v
    where ${ownRows(db, caller, 'b')} and b.tenant_id = v.tenant_id and b.id = v.bill_id
    returning b.paid_amount::text, (b.total_amount - b.paid_amount)::text as balance, b.status, v.amount_usd::text`);
  return rows[0];
}
