import type { UserContext } from '../../../platform/context/request-context.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { countOf } from '../../../platform/values/count-of.js';
import { OPTIONAL_EVENT_BYTES } from '../../webhooks/public.js';
import { publishLocked, reportPublished } from '../publication/publish.js';
import type { CourierRow, RunBillRow } from './list-queries.js';
import { periodOfMonth } from '../../../platform/values/time.js';
import { chosenAfter, COURIER_NOT_FOUND, type RunInput, type RunOutcome, type RunResult } from './results.js';
import { lockDraftsOfMonth, couriersById } from './run-queries.js';

/** The bills that one request publishes: it holds the counter of the tenant's bills meanwhile. */
const MAX_BILLS = 100;
/** Before all couriers. */
const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Publishes the drafts of a month of several couriers in one transaction. It locks all of them, by courier and id, before the first
 * publication locks the tenant's counter: single publications take the two in the same order. A draft that does not match its lines
 * is refused, and the others are published.
 */
export async function publishRun(ctx: UserContext, input: RunInput<'publish'>): Promise<RunOutcome> {
  const { courier_ids: chosen, after } = input;
  const month = periodOfMonth(input.month);
  const courierIds = chosen && chosenAfter(chosen, after);
  const { events, ...outcome } = await ctx.write(async (tx) => {
    const found = await tx.query(lockDraftsOfMonth(tx, { month, courierIds, after, limit: MAX_BILLS + 1 }));
    const drafts = found.slice(0, MAX_BILLS);
    // The courier whose remaining drafts, if any, are for the next request.
    const stoppedAt = found[MAX_BILLS]?.courierId;
    const all = courierIds ?? [...new Set(drafts.map(({ courierId }) => courierId))];
    const targets = all.filter((id) => stoppedAt === undefined || id <= stoppedAt);
    const couriers = await tx.query(couriersById(tx, targets));
    const results: RunResult[] = [];
    for (const courierId of targets) {
      const own = drafts.filter((bill) => bill.courierId === courierId);
      if (courierId === stoppedAt && own.length === 0) continue;
      const courier = couriers.find((each) => each.courierId === courierId);
      results.push({ courierId, courier, warnings: [], ...(await publishCourier(tx, courier, own)) });
    }
    const published = results.flatMap(({ bills }) => bills);
    const events = await reportPublished(
      tx,
      published.map(({ billId: id, status }) => ({ id, status })),
    );
    if (stoppedAt === undefined) return { results, nextAfter: null, events };
    return { results, nextAfter: targets.filter((id) => id < stoppedAt).at(-1) ?? after ?? FIRST, events };
  });
  // The request names no bill.
  ctx.noteWrites({ furtherBytes: events * OPTIONAL_EVENT_BYTES });
  return outcome;
}

async function publishCourier(
  tx: UserTx,
  courier: CourierRow | undefined,
  drafts: RunBillRow[],
): Promise<Pick<RunResult, 'outcome' | 'code' | 'message' | 'bills'>> {
  if (!courier) return { ...COURIER_NOT_FOUND, bills: [] };
  const bills: RunBillRow[] = [];
  const inconsistent: string[] = [];
  for (const draft of drafts) {
    const row = await publishLocked(tx, { ...draft, id: draft.billId });
    if (!row) inconsistent.push(draft.invoiceNumber);
    else {
      const { invoiceNumber, status, dueDate } = row;
      bills.push({ ...draft, invoiceNumber, status, dueDate });
    }
  }
  if (inconsistent.length > 0) {
    const message = `${inconsistent.join(', ')}: the lines do not add up to the total. Delete the draft, and draft the month again.`;
    return { outcome: 'refused', code: 'draft_inconsistent', message, bills };
  }
  const [first] = bills;
  if (!first) return { outcome: 'unchanged', code: 'nothing_to_publish', message: NOTHING_TO_PUBLISH, bills };
  const message =
    bills.length === 1
      ? `Bill ${first.invoiceNumber} published.`
      : `${countOf(bills.length, 'bill')} published.`;
  return { outcome: 'published', code: null, message, bills };
}

const NOTHING_TO_PUBLISH = 'The courier has no draft of this month.';
