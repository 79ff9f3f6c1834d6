import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import type { Tx } from '../../../platform/db/scope.js';
import { lockBill, type ActionInput } from '../shared/locked-bill.js';
import { emitBillEvents } from '../shared/bill-events.js';
import { currentDate, insertPayment, markVoid, type NewPayment, type SettledRow } from './payment-queries.js';

/** Voided payments count too. A PDF of a bill with 10,000 payments took half a minute. */
const MAX_PAYMENTS = 1_000;

export type Settled = { billId: string; paymentId: string; row: SettledRow; isChanged: boolean };

/**
 * Records a payment of a published bill. The payment that settles the balance marks it as paid.
 * @throws ApiError validation_failed, bill_not_found, bill_not_published, payment_exceeds_balance,
 *   too_many_payments
 */
export async function recordPayment(
  ctx: UserContext,
  input: ActionInput<'record_payment'>,
): Promise<Settled> {
  return ctx.write(async (tx) => {
    const payment = await readPayment(tx, input);
    const bill = await lockBill(tx, input.bill_id);
    if (bill.status === 'draft') throw new ApiError('bill_not_published');
    // Exact, because the bill is locked.
    if ((await tx.models.billPayment.count({ where: { billId: bill.id } })) >= MAX_PAYMENTS)
      throw new ApiError('too_many_payments', { args: { limit: MAX_PAYMENTS } });
    const [row] = await tx.query(insertPayment(ctx, bill.id, payment));
    if (!row) throw new ApiError('payment_exceeds_balance', { args: { balance: bill.balance } });
    const { id: paymentId, amountUsd, method, reference, receivedOn } = payment;
    const before = { paid_amount: bill.paidAmount, status: bill.status };
    const after = {
      ...{ payment_id: paymentId, amount_usd: amountUsd, method, reference, received_on: receivedOn },
      ...{ paid_amount: row.paidAmount, status: row.status },
    };
    auditLater(tx, 'bill.payment_recorded', bill.id, { before, after });
    if (row.status === 'paid') await emitBillEvents(tx, 'bill.paid', [bill.id]);
    return { billId: bill.id, paymentId, row, isChanged: true };
  });
}

async function readPayment(tx: Tx, input: ActionInput<'record_payment'>): Promise<NewPayment> {
  const [clock] = await tx.query(currentDate);
  if (!clock) throw new Error('The database returned no date.');
  const receivedOn = input.received_on ?? clock.today;
  if (receivedOn > clock.today) throw invalidFieldError('received_on', 'in_the_future');
  // The contract has limited the decimals, so nothing is rounded here.
  const amountUsd = input.amount.toFixed(2);
  return { id: newId(), amountUsd, method: input.method, reference: input.reference ?? null, receivedOn };
}

/**
 * Voids a payment. A bill that it had settled becomes published again. Voiding again changes nothing, so a
 * request can be repeated.
 * @throws ApiError payment_not_found
 */
export async function voidPayment(ctx: UserContext, input: ActionInput<'void_payment'>): Promise<Settled> {
  const { payment_id: paymentId, reason } = input;
  return ctx.write(async (tx) => {
    const { billPayment } = tx.models;
    const payment = await billPayment.findFirst({ where: { id: paymentId }, select: { billId: true } });
    if (!payment) throw new ApiError('payment_not_found');
    const { billId } = payment;
    const bill = await lockBill(tx, billId);
    const [row] = await tx.query(markVoid(ctx, paymentId, reason));
    if (!row) return { billId, paymentId, row: bill, isChanged: false };
    const amounts = { payment_id: paymentId, amount_usd: row.amountUsd };
    const before = { ...amounts, paid_amount: bill.paidAmount, status: bill.status };
    const after = { paid_amount: row.paidAmount, status: row.status, void_reason: reason };
    auditLater(tx, 'bill.payment_voided', billId, { before, after });
    if (bill.status === 'paid' && row.status !== 'paid') await emitBillEvents(tx, 'bill.reopened', [billId]);
    return { billId, paymentId, row, isChanged: true };
  });
}
