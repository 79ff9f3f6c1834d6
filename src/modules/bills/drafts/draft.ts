import { randomInt } from 'node:crypto';
import { bulkTransaction } from '../../../platform/db/transaction.js';
import { violates } from '../../../platform/db/violations.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { wordGap } from '../../rates/public.js';
import { record, MAX_USD, type Change, type ActionInput } from '../shared/context.js';
import {
  insertDraft,
  lockCourier,
  removeDraft,
  type InsertedDraftRow,
  type NewDraft,
} from './draft-queries.js';
import { lockDraftForUpdate } from '../shared/locked-bill.js';

/** 100,000 packages take seconds, longer than the pool's limit for ordinary requests. */
const TIMEOUT_MS = 60_000;
const MAX_PACKAGES = 100_000;

export type CreatedDraft = {
  billId: string;
  invoiceNumber: string;
  drawn: InsertedDraftRow;
  warnings: string[];
};

/**
 * Creates a draft for the packages that a courier received in a period, with their current weights and fees.
 * Packages on another bill are left out.
 * @throws ApiError validation_failed, courier_not_found, nothing_to_bill, bill_too_large
 */
export async function createDraft(change: Change, input: ActionInput<'create_draft'>): Promise<CreatedDraft> {
  const { start_date: startDate, end_date: endDate } = input;
  if (endDate < startDate) throw invalidFieldError('end_date', 'before', { other: 'start_date' });
  const draft = {
    period: { courierId: input.courier_id, startDate, endDate },
    serviceType: input.service_type,
    // The contract has limited the decimals, so nothing is rounded here.
    taxRate: input.tax_rate.toFixed(3),
    remarks: input.remarks ?? null,
    maxPackages: MAX_PACKAGES,
  };
  return withUniqueNumber((invoiceNumber) => storeDraft(change, { ...draft, id: newId(), invoiceNumber }));
}

async function storeDraft(change: Change, draft: NewDraft): Promise<CreatedDraft> {
  return bulkTransaction(change.db, change.caller, TIMEOUT_MS, async (tx) => {
    const ctx = { ...change, tx };
    const courierId = await lockCourier(ctx, draft.period.courierId);
    if (!courierId) throw new ApiError('courier_not_found');
    const drawn = await insertDraft(ctx, draft);
    if (!drawn?.is_drawn) throw whyNotDrawn(drawn);
    const { total_packages, already_billed, subtotal, tax_amount, total_amount } = drawn;
    const { id, invoiceNumber, period, serviceType, taxRate, remarks } = draft;
    const after = {
      ...{ invoice_number: invoiceNumber, courier_id: courierId, service_type: serviceType, remarks },
      ...{ start_date: period.startDate, end_date: period.endDate, total_packages, already_billed },
      ...{ tax_rate: taxRate, subtotal, tax_amount, total_amount },
    };
    await record(ctx, { action: 'bill.drafted', billId: id, after });
    return { billId: id, invoiceNumber, drawn, warnings: drawn.gaps.map(wordGap) };
  });
}

function whyNotDrawn(drawn: InsertedDraftRow | undefined): ApiError | Error {
  if (!drawn) return new Error('The courier went missing under its own lock.');
  const { total_packages: total, already_billed: billed, total_amount: amount } = drawn;
  if (total === 0) {
    return billed === 0
      ? new ApiError('nothing_to_bill')
      : new ApiError('nothing_to_bill', { variant: 'already_billed', args: { count: billed } });
  }
  return total > MAX_PACKAGES
    ? new ApiError('bill_too_large', { variant: 'packages', args: { count: total, limit: MAX_PACKAGES } })
    : new ApiError('bill_too_large', { variant: 'amount', args: { amount, limit: MAX_USD } });
}

/**
 * Deletes a draft permanently. Its packages can be billed again.
 * @throws ApiError bill_not_found, bill_not_draft
 */
export async function deleteDraft(change: Change, { bill_id }: ActionInput<'delete_draft'>): Promise<string> {
  return bulkTransaction(change.db, change.caller, TIMEOUT_MS, async (tx) => {
    const ctx = { ...change, tx };
    const { id, balance: _, paid_amount: __, ...before } = await lockDraftForUpdate(ctx, bill_id);
    if ((await removeDraft(ctx, id)) !== 1) throw new Error('A draft was not deleted under its own lock.');
    await record(ctx, { action: 'bill.draft_deleted', billId: id, before });
    return id;
  });
}

// Without I, L, O and U, which are easily misread.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const NUMBER_TRIES = 3;

/**
 * There are 10^12 numbers: for a tenant with 100,000 drafts, a new number is already in use once in ten
 * million times.
 */
async function withUniqueNumber<Result>(store: (number: string) => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    const suffix = Array.from({ length: 8 }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
    try {
      return await store(`DRAFT-${suffix}`);
    } catch (error) {
      if (tried === NUMBER_TRIES || !violates(error, 'bills_tenant_id_invoice_number_key')) throw error;
    }
  }
}
