import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import {
  lockDraft,
  MAX_USD,
  totalsAsColumns,
  type TotalsRow,
  type ActionInput,
} from '../shared/locked-bill.js';
import { addToSubtotal } from './payment-queries.js';

export type Adjusted = { billId: string; lineId: string; totals: TotalsRow };

/**
 * Adds a charge or a credit to a draft, after its other lines.
 * @throws ApiError validation_failed, bill_not_found, bill_not_draft, bill_total_negative, bill_too_large
 */
export async function addAdjustment(
  ctx: UserContext,
  input: ActionInput<'add_adjustment'>,
): Promise<Adjusted> {
  const { description, amount } = input;
  if (amount === 0) throw invalidFieldError('amount', 'zero');
  // The contract has limited the decimals, so nothing is rounded here.
  const amountUsd = amount.toFixed(2);
  return ctx.write(async (tx) => {
    const bill = await lockDraft(tx, input.bill_id);
    const { id: billId, courierId } = bill;
    const [totals] = await tx.query(addToSubtotal(ctx, billId, amountUsd));
    if (!totals) throw outOfRange(amount < 0);
    const { billLine } = tx.models;
    const last = await billLine.findFirst({ where: { billId }, orderBy: { position: 'desc' } });
    const line = { id: newId(), billId, courierId, position: (last?.position ?? 0) + 1, kind: 'adjustment' };
    await billLine.create({ data: { ...line, tenantId: ctx.tenantId, description, amountUsd } });
    const after = { line_id: line.id, description, amount_usd: amountUsd, ...totalsAsColumns(totals) };
    auditLater(tx, 'bill.adjustment_added', billId, { before: totalsAsColumns(bill), after });
    return { billId, lineId: line.id, totals };
  });
}

/**
 * Removes an adjustment from a draft.
 * @throws ApiError adjustment_not_found, bill_not_draft, bill_total_negative, bill_too_large
 */
export async function removeAdjustment(
  ctx: UserContext,
  { line_id: lineId }: ActionInput<'remove_adjustment'>,
): Promise<Adjusted> {
  return ctx.write(async (tx) => {
    const { billLine } = tx.models;
    const line = await billLine.findFirst({ where: { id: lineId, kind: 'adjustment' } });
    if (!line) throw new ApiError('adjustment_not_found');
    const bill = await lockDraft(tx, line.billId);
    const { count } = await billLine.deleteMany({ where: { id: lineId } });
    // A concurrent request has already removed it.
    if (count === 0) throw new ApiError('adjustment_not_found');
    const [totals] = await tx.query(addToSubtotal(ctx, bill.id, line.amountUsd.negated().toFixed(2)));
    if (!totals) throw outOfRange(line.amountUsd.isPositive());
    const removed = { description: line.description, amount_usd: line.amountUsd.toFixed(2) };
    const before = { line_id: lineId, ...removed, ...totalsAsColumns(bill) };
    auditLater(tx, 'bill.adjustment_removed', bill.id, { before, after: totalsAsColumns(totals) });
    return { billId: bill.id, lineId: line.id, totals };
  });
}

const outOfRange = (isLess: boolean) =>
  isLess
    ? new ApiError('bill_total_negative')
    : new ApiError('bill_too_large', { variant: 'adjustment', args: { limit: MAX_USD } });
