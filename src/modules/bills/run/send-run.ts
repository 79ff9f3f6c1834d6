import type { UserContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { countOf } from '../../../platform/values/count-of.js';
import { effectiveMailsOf, recipientsOf, type NewBillMail, type RecipientRow } from '../mails/queries.js';
import { hasAddress, mailedOften, newMail, queueBillMails, sentOften } from '../mails/send.js';
import type { CourierRow, RunBillRow } from './list-queries.js';
import { periodOfMonth } from '../../../platform/values/time.js';
import { chosenAfter, COURIER_NOT_FOUND, type RunInput, type RunOutcome, type RunResult } from './results.js';
import { couriersById, countsOfPublished, lockPublishedOfMonth } from './run-queries.js';

/** The bills that one request sends, unless its first courier has more. */
const MAX_BILLS = 100;

/**
 * Queues mails with the published bills of a month of several couriers in one transaction. It locks the bills by courier and id, and reads
 * only then which of them were sent: of simultaneous requests, also for a single bill, only one sends it. All bills of a courier
 * are in one request, so a request with `again` that goes on repeats none.
 */
export function sendRun(ctx: UserContext, input: RunInput<'send'>): Promise<RunOutcome> {
  const { courier_ids: chosen, after } = input;
  const month = periodOfMonth(input.month);
  const courierIds = chosen && chosenAfter(chosen, after);
  return ctx.write(async (tx) => {
    const counts = await tx.query(countsOfPublished(tx, { month, courierIds, after, limit: MAX_BILLS + 1 }));
    const stoppedAt = firstBeyond(counts);
    const all = courierIds ?? counts.map(({ courierId }) => courierId);
    const targets = all.filter((id) => stoppedAt === undefined || id < stoppedAt);
    const bills = await tx.query(lockPublishedOfMonth(tx, targets, month));
    const billIds = bills.map(({ billId }) => billId);
    const [sent, couriers, recipients] = await tx.query([
      effectiveMailsOf(tx, billIds),
      couriersById(tx, targets),
      recipientsOf(tx, targets),
    ]);
    const sentIds = new Set(sent.map(({ billId }) => billId));
    const oftenIds = await mailedOften(tx, billIds);
    const sendings = targets.map((courierId) =>
      sendingOf(input, {
        courierId,
        courier: couriers.find((each) => each.courierId === courierId),
        recipient: recipients.find((each) => each.courierId === courierId),
        bills: bills.filter((bill) => bill.courierId === courierId),
        sentIds,
        oftenIds,
      }),
    );
    const mails = sendings.flatMap((sending) => sending.mails);
    if (mails.length > 0) await queueBillMails(tx, mails);
    const nextAfter = stoppedAt === undefined ? null : (targets.at(-1) ?? null);
    return { results: sendings.map(({ result }) => result), nextAfter };
  });
}

/** Returns the first courier for which the request has no place. Undefined if there is none. */
function firstBeyond(counts: { courierId: string; bills: number }[]): string | undefined {
  let total = 0;
  return counts.find(({ bills }, index) => {
    total += bills;
    return index > 0 && total > MAX_BILLS;
  })?.courierId;
}

type Target = {
  courierId: string;
  courier: CourierRow | undefined;
  recipient: RecipientRow | undefined;
  /** The published ones of the month, locked. */
  bills: RunBillRow[];
  /** The bills that were sent, or that are queued. */
  sentIds: Set<string>;
  /** The bills that were mailed as often as a day allows. */
  oftenIds: Set<string>;
};

type Sending = { result: RunResult; mails: NewBillMail[] };

function sendingOf(
  { again = false, language }: RunInput<'send'>,
  { courierId, courier, recipient, bills, sentIds, oftenIds }: Target,
): Sending {
  const without = (result: Pick<RunResult, 'outcome' | 'code' | 'message'>, shown: RunBillRow[] = []) => ({
    result: { courierId, courier, warnings: [], bills: shown, ...result },
    mails: [],
  });
  if (!courier || !recipient) return without(COURIER_NOT_FOUND);
  if (bills.length === 0) return without(NOTHING_TO_SEND);
  const due = again ? bills : bills.filter(({ billId }) => !sentIds.has(billId));
  const [first] = due;
  if (!first) return without(ALREADY_SENT, bills);
  if (!hasAddress(recipient)) return without(addressMissing(courier));
  const ready = due.filter(({ billId }) => !oftenIds.has(billId));
  if (ready.length === 0) return without(sentTooOften(first), due);
  const message = messageOf(ready, recipient.email, bills.length - ready.length);
  return {
    result: { courierId, courier, warnings: [], bills: ready, outcome: 'queued', code: null, message },
    mails: ready.map(({ billId }) => newMail(billId, recipient, language)),
  };
}

function messageOf(due: RunBillRow[], email: string, left: number): string {
  const [first] = due;
  const what = due.length === 1 && first ? `Bill ${first.invoiceNumber}` : countOf(due.length, 'bill');
  const rest = left > 0 ? ` ${countOf(left, 'other bill')} of the month had been sent already.` : '';
  return `${what} will be sent to ${email}.${rest}`;
}

const NOTHING_TO_SEND = {
  outcome: 'unchanged',
  code: 'nothing_to_send',
  message: 'The courier has no published bill of this month.',
} as const;

const ALREADY_SENT = {
  outcome: 'unchanged',
  code: 'bill_already_sent',
  message: 'All bills of this month were sent already. Set again to true to send them once more.',
} as const;

const sentTooOften = ({ invoiceNumber }: RunBillRow) =>
  ({
    outcome: 'unchanged',
    code: 'bill_already_sent',
    message: sentOften(invoiceNumber).message,
  }) as const;

const addressMissing = ({ courierName }: CourierRow) =>
  ({
    outcome: 'refused',
    code: 'courier_address_missing',
    message: new ApiError('courier_address_missing', { args: { courier: courierName } }).message,
  }) as const;
