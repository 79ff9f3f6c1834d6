import { transaction } from '../../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { record, type Change, type Ctx, type ActionInput } from '../shared/context.js';
import type { LockedBill } from '../shared/locked-bill-queries.js';
import { lockBillForUpdate } from '../shared/locked-bill.js';
import {
  findBillOfPayment,
  findToday,
  insertPayment,
  markVoid,
  type NewPayment,
  type SettledRow,
} from './payment-queries.js';

export type Settled = { billId: string; paymentId: string; row: SettledRow; isChanged: boolean };

/**
 * Records a payment of a published bill. The payment that settles the balance marks it as paid.
 * @throws ApiError validation_failed, bill_not_found, bill_not_published, payment_exceeds_balance
 */
export async function recordPayment(change: Change, input: ActionInput<'record_payment'>): Promise<Settled> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const payment = await readPayment(ctx, input);
    const bill = await lockBillForUpdate(ctx, input.bill_id);
    if (bill.status === 'draft') throw new ApiError('bill_not_published');
    const row = await insertPayment(ctx, bill, payment);
    if (!row) throw exceedsBalance(bill);
    const { id: paymentId, amountUsd, method, reference, receivedOn } = payment;
    const after = {
      ...{ payment_id: paymentId, amount_usd: amountUsd, method, reference, received_on: receivedOn },
      ...{ paid_amount: row.paid_amount, status: row.status },
    };
    const before = { paid_amount: bill.paid_amount, status: bill.status };
    await record(ctx, { action: 'bill.payment_recorded', billId: bill.id, before, after });
    return { billId: bill.id, paymentId, row, isChanged: true };
  });
}

async function readPayment(ctx: Ctx, input: ActionInput<'record_payment'>): Promise<NewPayment> {
  const today = await findToday(ctx);
  const receivedOn = input.received_on ?? today;
  if (receivedOn > today) throw invalidFieldError('received_on', 'in_the_future');
  // The contract has limited the decimals, so nothing is rounded here.
  const amountUsd = input.amount.toFixed(2);
  return { id: newId(), amountUsd, method: input.method, reference: input.reference ?? null, receivedOn };
}

const exceedsBalance = ({ balance }: LockedBill) =>
  new ApiError('payment_exceeds_balance', { args: { balance } });

/**
 * Voids a payment. A bill that it had settled becomes published again. Voiding again changes nothing, so a
 * request can be repeated.
 * @throws ApiError payment_not_found
 */
export async function voidPayment(change: Change, input: ActionInput<'void_payment'>): Promise<Settled> {
  const { payment_id: paymentId, reason } = input;
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const billId = await findBillOfPayment(ctx, paymentId);
    if (!billId) throw new ApiError('payment_not_found');
    const bill = await lockBillForUpdate(ctx, billId);
    const row = await markVoid(ctx, paymentId, reason);
    if (!row) return { billId, paymentId, row: bill, isChanged: false };
    const { amount_usd, paid_amount, status } = row;
    const before = { payment_id: paymentId, amount_usd, paid_amount: bill.paid_amount, status: bill.status };
    const after = { paid_amount, status, void_reason: reason };
    await record(ctx, { action: 'bill.payment_voided', billId, before, after });
    return { billId, paymentId, row, isChanged: true };
  });
}
