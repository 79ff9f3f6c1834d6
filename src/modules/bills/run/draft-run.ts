import type { UserContext } from '../../../platform/context/request-context.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { countOf } from '../../../platform/values/count-of.js';
import { newId } from '../../../platform/values/ids.js';
import { MAX_PACKAGES } from '../../invoices/public.js';
import { gapWarning } from '../../rates/public.js';
import type { DraftRow, NewDraft } from '../drafts/draft-queries.js';
import {
  DRAFT_TIMEOUT_MS,
  noteBillLines,
  storeLocked,
  whyNotStored,
  withUniqueNumbers,
} from '../drafts/draft.js';
import { billsOfCouriers, type CourierRow, type RunBillRow } from './list-queries.js';
import { periodOfMonth } from '../../../platform/values/time.js';
import { chosenAfter, COURIER_NOT_FOUND, type RunInput, type RunOutcome, type RunResult } from './results.js';
import { idsOfCouriers, lockCouriers } from './run-queries.js';

/** What one request drafts: so many couriers, and so many packages unless the first courier has more. */
const MAX_COURIERS = 25;
const MAX_RUN_PACKAGES = 20_000;
/** The existing drafts that are shown of each courier. */
const MAX_DRAFTS = 100;

/**
 * Drafts the bills of a month for several couriers in one transaction. It locks the couriers in the order of their ids, so that single
 * drafts of them wait, and a courier that has a draft of the month gets no second one. What is refused for one courier changes
 * nothing for the others.
 */
export async function draftRun(ctx: UserContext, input: RunInput<'draft'>): Promise<RunOutcome> {
  const month = periodOfMonth(input.month);
  const common = {
    serviceType: input.service_type,
    // The contract has limited the decimals, so nothing is rounded here.
    taxRate: input.tax_rate.toFixed(3),
    remarks: input.remarks ?? null,
  };
  const outcome = await withUniqueNumbers((newNumber) =>
    ctx.write(
      async (tx) => {
        const { ids, hasMore } = await chooseCouriers(tx, input);
        const couriers = await tx.query(lockCouriers(tx, ids));
        const drafts = await tx.query(billsOfCouriers(tx, ids, month, { limit: MAX_DRAFTS, isDraft: true }));
        const results: RunResult[] = [];
        let packages = 0;
        for (const courierId of ids) {
          const courier = couriers.find((each) => each.courierId === courierId);
          const maxPackages = packages === 0 ? MAX_PACKAGES : Math.max(0, MAX_RUN_PACKAGES - packages);
          const own = drafts.filter((bill) => bill.courierId === courierId);
          const draft = {
            ...common,
            id: newId(),
            invoiceNumber: newNumber(),
            period: { courierId, ...month },
            maxPackages,
          };
          const result = await draftCourier(tx, { courierId, courier, own, draft });
          if (result === 'later') return { results, nextAfter: results.at(-1)?.courierId ?? null };
          results.push(result);
          if (result.outcome === 'drafted') packages += result.bills[0]?.totalPackages ?? 0;
        }
        return { results, nextAfter: hasMore ? (ids.at(-1) ?? null) : null };
      },
      { timeoutMs: DRAFT_TIMEOUT_MS },
    ),
  );
  const drafted = outcome.results.filter((result) => result.outcome === 'drafted');
  noteBillLines(
    ctx,
    drafted.flatMap(({ bills }) => bills).reduce((sum, { totalPackages }) => sum + totalPackages, 0),
  );
  return outcome;
}

async function chooseCouriers(
  tx: UserTx,
  { courier_ids: chosen, after }: RunInput<'draft'>,
): Promise<{ ids: string[]; hasMore: boolean }> {
  const found = chosen
    ? chosenAfter(chosen, after)
    : (await tx.query(idsOfCouriers(tx, after, MAX_COURIERS + 1))).map(({ id }) => id);
  return { ids: found.slice(0, MAX_COURIERS), hasMore: found.length > MAX_COURIERS };
}

type Target = { courierId: string; courier: CourierRow | undefined; own: RunBillRow[]; draft: NewDraft };

/** Returns `later` if the courier has more packages than are left for this request. */
async function draftCourier(
  tx: UserTx,
  { courierId, courier, own, draft }: Target,
): Promise<RunResult | 'later'> {
  const result = { courierId, courier, bills: own, warnings: [] };
  if (!courier) return { ...result, ...COURIER_NOT_FOUND };
  if (own.length > 0) return { ...result, outcome: 'unchanged', code: 'draft_exists', message: DRAFT_EXISTS };
  const row = await storeLocked(tx, draft);
  if (row.isStored) {
    const message = `Bill of ${countOf(row.totalPackages, 'package')} drafted.`;
    const bills = [billOf(draft, row)];
    return { ...result, outcome: 'drafted', code: null, message, bills, warnings: row.gaps.map(gapWarning) };
  }
  if (row.totalPackages > draft.maxPackages && draft.maxPackages < MAX_PACKAGES) return 'later';
  const { message } = whyNotStored(row);
  if (row.totalPackages === 0) return { ...result, outcome: 'unchanged', code: 'nothing_to_bill', message };
  return { ...result, outcome: 'refused', code: 'bill_too_large', message };
}

const DRAFT_EXISTS =
  'The courier has a draft of this month. Publish it, or delete it to draft the month again.';

const billOf = ({ id, invoiceNumber, period }: NewDraft, row: DraftRow): RunBillRow => ({
  courierId: period.courierId,
  billId: id,
  invoiceNumber,
  status: 'draft',
  startDate: period.startDate,
  endDate: period.endDate,
  totalPackages: row.totalPackages,
  totalAmount: row.totalAmount,
  dueDate: null,
});
