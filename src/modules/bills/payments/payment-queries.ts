import { ownRows } from '../../../platform/db/filters.js';
import type { BillPayment, DecimalText } from '../../../platform/db/models/types.js';
import { sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { BillStatus } from '../shared/bill-row.js';
import { MAX_USD, type TotalsRow } from '../shared/locked-bill.js';
import { columns } from '../../../platform/db/columns.js';

const PAID = columns('Bill', 'b', ['paidAmount', 'status']);
const TOTALS = columns('Bill', 'b', ['subtotal', 'taxAmount', 'totalAmount']);

export type SettledRow = RowOf<typeof PAID> & { balance: string; status: BillStatus };

/** The database's date in UTC, `YYYY-MM-DD`. */
export const currentDate: Sql<{ today: string }> =
  sql`select (now() at time zone 'UTC')::date::text as today`;

/** `receivedOn` is text. */
export type NewPayment = DecimalText<Pick<BillPayment, 'id' | 'amountUsd' | 'method' | 'reference'>> & {
  receivedOn: string;
};

/**
 * Stores a payment and adds it to the bill's paid amount in one statement. Returns no row if the balance would be
 * negative.
 */
export function insertPayment(ctx: UserScope, billId: string, payment: NewPayment): Sql<SettledRow> {
  const { id, amountUsd, method, reference, receivedOn } = payment;
  return sql`with settled as (
      update bills b set paid_amount = b.paid_amount + ${amountUsd}::numeric,
        status = case when b.paid_amount + ${amountUsd}::numeric = b.total_amount then 'paid' else 'published' end
      where ${ownRows(ctx, 'b')} and b.id = ${billId}::uuid and b.status = 'published'
        and b.paid_amount + ${amountUsd}::numeric <= b.total_amount
      returning b.tenant_id, b.id, b.courier_id, b.paid_amount, b.total_amount, b.status),
    stored as (
      insert into bill_payments (tenant_id, id, bill_id, courier_id, amount_usd, method, reference, received_on)
      select tenant_id, ${id}::uuid, id, courier_id, ${amountUsd}::numeric, ${method}, ${reference}, ${receivedOn}::date
      from settled)
    select paid_amount::text as "paidAmount", (total_amount - paid_amount)::text as balance, status from settled`;
}

/** Voids a payment and subtracts it from the bill's paid amount. Returns no row if it was already void. */
export const markVoid = (
  ctx: UserScope,
  paymentId: string,
  reason: string,
): Sql<SettledRow & DecimalText<Pick<BillPayment, 'amountUsd'>>> =>
  sql`with voided as (
      update bill_payments p set voided_at = now(), void_reason = ${reason}
      where ${ownRows(ctx, 'p')} and p.id = ${paymentId}::uuid and p.voided_at is null
      returning p.tenant_id, p.bill_id, p.amount_usd)
    update bills b set paid_amount = b.paid_amount - v.amount_usd, status = 'published'
    from voided v
    where ${ownRows(ctx, 'b')} and b.tenant_id = v.tenant_id and b.id = v.bill_id
    returning ${PAID}, (b.total_amount - b.paid_amount)::text as balance,
      v.amount_usd::text as "amountUsd"`;

/**
 * Adds an amount to a draft's subtotal, and computes the tax and the total again. Returns no row if a total would be
 * out of range.
 */
export const addToSubtotal = (ctx: UserScope, billId: string, amountUsd: string): Sql<TotalsRow> =>
  sql`update bills b set subtotal = n.subtotal, tax_amount = n.tax_amount, total_amount = n.subtotal + n.tax_amount
    from (
      select d.tenant_id, d.id, d.subtotal + change.usd as subtotal,
        round((d.subtotal + change.usd) * d.tax_rate / 100, 2) as tax_amount
      from bills d cross join (select ${amountUsd}::numeric as usd) as change
      where ${ownRows(ctx, 'd')} and d.id = ${billId}::uuid) as n
    where ${ownRows(ctx, 'b')} and b.tenant_id = n.tenant_id and b.id = n.id and b.status = 'draft'
      and n.subtotal >= 0 and n.subtotal + n.tax_amount <= ${MAX_USD}::numeric
    returning ${TOTALS}`;
