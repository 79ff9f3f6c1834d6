import { auditLater } from '../../../platform/audit/audit.js';
import { type Page } from '../../../platform/context/read-page.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf, QueryOf } from '../../../platform/contract/types.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { quotaOf, takeQuota } from '../../../platform/limits/stored/quotas.js';
import { isAddress } from '../../../platform/mail/address.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import { newId } from '../../../platform/values/ids.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { QUEUE_ATTEMPTS } from '../../mail/public.js';
import { lockBill } from '../shared/locked-bill.js';
import {
  billExists,
  countOfMails,
  effectiveMailsOf,
  insertBillMails,
  pageOfMails,
  recentMailsOf,
  recipientsOf,
  type BillMailRow,
  type Language,
  type NewBillMail,
  type RecipientRow,
} from './queries.js';

/** Mails with one bill within 24 hours, failed ones included. Each draws a PDF of up to 10,000 lines. */
const MAX_OF_A_BILL = 5;

/** Of a user of the staff, with all bills. */
const MAILS_PER_DAY = quotaOf('bill_mails');

/**
 * Returns one page of the mails of a bill.
 * @throws ApiError bill_not_found
 */
export async function listMails(
  ctx: UserContext,
  query: QueryOf<'listBillMails'>,
): Promise<Page<BillMailRow>> {
  const { bill_id: billId } = query;
  const [[bill], rows, [counted]] = await ctx.read([
    billExists(ctx, billId),
    pageOfMails(ctx, billId, query),
    countOfMails(ctx, billId),
  ]);
  if (!bill) throw new ApiError('bill_not_found');
  return { rows, total: counted?.total ?? 0 };
}

export type SentBill = { invoiceNumber: string; mail: BillMailRow };

/**
 * Queues a mail with a published bill. The lock of the bill makes simultaneous requests wait, so that only the first one sends it.
 * @throws ApiError bill_not_found, bill_not_published, bill_already_sent, courier_address_missing, quota_exceeded
 */
export async function sendBill(
  ctx: UserContext,
  { bill_id: billId, again, language }: BodyOf<'sendBill'>,
): Promise<SentBill> {
  return ctx.write(async (tx) => {
    const { id, courierId, status, invoiceNumber: number } = await lockBill(tx, billId);
    if (status === 'draft') throw new ApiError('bill_not_published', { variant: 'mail' });
    const [last] = await tx.query(effectiveMailsOf(tx, [id]));
    if (last && !again) {
      const args = { number, at: formatDateTime(last.at), recipient: last.recipient };
      throw new ApiError(
        'bill_already_sent',
        last.status === 'sent' ? { args } : { variant: 'queued', args },
      );
    }
    if ((await mailedOften(tx, [id])).has(id)) throw sentOften(number);
    const [courier] = await tx.query(recipientsOf(tx, [courierId]));
    if (!courier) throw new Error(`The courier of bill ${id} does not exist.`);
    if (!hasAddress(courier))
      throw new ApiError('courier_address_missing', { args: { courier: courier.courierName } });
    const [mail] = await queueBillMails(tx, [newMail(id, courier, language)]);
    if (!mail) throw new Error('A mail was not stored.');
    return { invoiceNumber: number, mail };
  });
}

/** Returns which of the bills were mailed as often as a day allows. */
export async function mailedOften(tx: UserTx, billIds: string[]): Promise<Set<string>> {
  const recent = await tx.query(recentMailsOf(tx, billIds));
  return new Set(recent.flatMap(({ billId, total }) => (total >= MAX_OF_A_BILL ? [billId] : [])));
}

export const sentOften = (number: string): ApiError =>
  new ApiError('bill_already_sent', { variant: 'often', args: { number, limit: MAX_OF_A_BILL } });

/** Whether bills can be sent to a courier. */
export const hasAddress = <Courier extends { email: string | null }>(
  courier: Courier,
): courier is Courier & { email: string } => courier.email !== null && isAddress(courier.email);

/** @param language that of the latest mail to the courier by default, or English */
export const newMail = (
  billId: string,
  { courierId, email, lastLanguage }: RecipientRow & { email: string },
  language: Language | undefined,
): NewBillMail => ({
  id: newId(),
  bill_id: billId,
  courier_id: courierId,
  recipient: email,
  language: language ?? lastLanguage ?? 'en',
});

/**
 * Stores mails with their audit entries and jobs. The bills must be locked.
 *
 * @throws ApiError quota_exceeded
 */
export async function queueBillMails(tx: UserTx, mails: NewBillMail[]): Promise<BillMailRow[]> {
  const rows = await tx.query(insertBillMails(tx, mails));
  for (const { id, bill_id: billId, recipient, language } of mails)
    auditLater(tx, 'bill.mail_queued', billId, { after: { mail_id: id, recipient, language } });
  const jobs = mails.map(({ id: mailId }) => ({ tenantId: tx.tenantId, mailId }));
  tx.later(addJobs(tx, 'sendBillMail', jobs, { maxAttempts: QUEUE_ATTEMPTS }));
  await takeQuota(tx, MAILS_PER_DAY, tx.caller, mails.length);
  return rows;
}
