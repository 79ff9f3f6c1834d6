import { BOUND_KINDS } from '../../../../generated/bounds.js';
import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { lock } from '../../../platform/db/columns.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { violates } from '../../../platform/db/violations.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { newId, randomText } from '../../../platform/values/ids.js';
import { MAX_PACKAGES } from '../../invoices/public.js';
import { gapWarning } from '../../rates/public.js';
import { lockDraft, MAX_USD, totalsAsColumns, type ActionInput } from '../shared/locked-bill.js';
import { deleteDraftRow, insertDraft, type DraftRow, type NewDraft } from './draft-queries.js';

/** 100,000 packages take seconds, longer than the pool's limit for ordinary requests. */
export const DRAFT_TIMEOUT_MS = 60_000;

export type CreatedDraft = {
  billId: string;
  invoiceNumber: string;
  row: DraftRow;
  warnings: string[];
};

/**
 * Creates a draft for the packages that a courier received in a period, with their current weights and fees.
 * Packages on another bill are left out.
 * @throws ApiError validation_failed, courier_not_found, nothing_to_bill, bill_too_large
 */
export async function createDraft(
  ctx: UserContext,
  input: ActionInput<'create_draft'>,
): Promise<CreatedDraft> {
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
  const created = await withUniqueNumbers((newNumber) =>
    storeDraft(ctx, { ...draft, id: newId(), invoiceNumber: newNumber() }),
  );
  noteBillLines(ctx, created.row.totalPackages);
  return created;
}

/** A request names no package, so the lines of its bills are counted when they are written. */
export const noteBillLines = (ctx: UserContext, lines: number): void =>
  ctx.noteWrites({ furtherBytes: lines * BOUND_KINDS.bill.item_bytes });

async function storeDraft(ctx: UserContext, draft: NewDraft): Promise<CreatedDraft> {
  const { id, invoiceNumber, period } = draft;
  return ctx.write(
    async (tx) => {
      // Drafts of one courier are created one after the other, so that the second sees the packages that the first has billed.
      await lock(tx, 'Courier', period.courierId, ['id'], 'no key update');
      const row = await storeLocked(tx, draft);
      if (!row.isStored) throw whyNotStored(row);
      return { billId: id, invoiceNumber, row, warnings: row.gaps.map(gapWarning) };
    },
    { timeoutMs: DRAFT_TIMEOUT_MS },
  );
}

/** Stores a draft of a courier that the transaction has locked. Look at `isStored` of the result. */
export async function storeLocked(tx: UserTx, draft: NewDraft): Promise<DraftRow> {
  const [row] = await tx.query(insertDraft(tx, draft));
  if (!row) throw new Error('The courier is missing although its row is locked.');
  if (row.isStored) auditLater(tx, 'bill.drafted', draft.id, { after: auditedColumns(draft, row) });
  return row;
}

const auditedColumns = (draft: NewDraft, row: DraftRow) => ({
  invoice_number: draft.invoiceNumber,
  courier_id: draft.period.courierId,
  service_type: draft.serviceType,
  remarks: draft.remarks,
  start_date: draft.period.startDate,
  end_date: draft.period.endDate,
  total_packages: row.totalPackages,
  already_billed: row.alreadyBilled,
  tax_rate: draft.taxRate,
  ...totalsAsColumns(row),
});

/** Why a draft was not stored whose `maxPackages` was MAX_PACKAGES. */
export function whyNotStored(row: DraftRow): ApiError {
  const { totalPackages: total, alreadyBilled: billed, totalAmount: amount } = row;
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
export async function deleteDraft(
  ctx: UserContext,
  { bill_id: billId }: ActionInput<'delete_draft'>,
): Promise<string> {
  return ctx.write(
    async (tx) => {
      const bill = await lockDraft(tx, billId);
      const { id, courierId, invoiceNumber, status } = bill;
      if ((await tx.count(deleteDraftRow(ctx, id))) !== 1)
        throw new Error('A draft was not deleted although its row is locked.');
      const before = {
        courier_id: courierId,
        invoice_number: invoiceNumber,
        status,
        ...totalsAsColumns(bill),
      };
      auditLater(tx, 'bill.draft_deleted', id, { before });
      return id;
    },
    { timeoutMs: DRAFT_TIMEOUT_MS },
  );
}

// Without I, L, O and U, which are easily misread.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const NUMBER_TRIES = 3;

const newNumber = (): string => `DRAFT-${randomText(ALPHABET, 8)}`;

/**
 * Repeats the work if a number is taken. There are 10^12 numbers: a tenant with 100,000 drafts already uses one new number in ten million.
 */
export async function withUniqueNumbers<Result>(
  store: (newNumber: () => string) => Promise<Result>,
): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await store(newNumber);
    } catch (error) {
      if (tried === NUMBER_TRIES || !violates(error, 'bills_tenant_id_invoice_number_key')) throw error;
    }
  }
}
