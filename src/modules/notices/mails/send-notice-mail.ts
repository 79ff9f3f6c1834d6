import { createHash } from 'node:crypto';
import { operations } from '../../../../generated/operations.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import { isAddress } from '../../../platform/mail/address.js';
import type { Message } from '../../../platform/mail/mime.js';
import { addJobs, type Jobs } from '../../../platform/queue/jobs.js';
import { QUEUE_ATTEMPTS, sendMail, type Mail, type MailDeps } from '../../mail/public.js';
import { nameOf, renderNotice } from './letter.js';
import { parcelsOfMail, prepareMail, selectMail } from './queries.js';

export type NoticeMailDeps = MailDeps & {
  secrets: Secrets;
  /** The URL under which people reach the service. Mails without a link to it are not sent. */
  publicUrl: string | undefined;
};

/** The maximum number of listed parcels. The mail states how many more there are. */
const MAX_LISTED = 500;

/** 128 bits, in hex. */
const KEY_LENGTH = 32;

/** The same in each attempt, because an attempt whose outcome is unknown may have sent the mail. It is not stored: what is stored finds it. */
const keyOf = (secrets: Secrets, mailId: string): string =>
  secrets.lookupHash(mailId, 'notice_link').slice(0, KEY_LENGTH);

/** By which a key is found. It is random to everybody else, so the hash needs no secret. */
export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/**
 * Sends a queued mail to a customer. During quiet hours it is queued again for their end.
 * @throws Error to be retried
 */
export async function sendNoticeMail(deps: NoticeMailDeps, job: Jobs['sendNoticeMail']): Promise<void> {
  const { tenantId, mailId } = job;
  const key = keyOf(deps.secrets, mailId);
  const ctx = makeContext(deps.db, { kind: 'system', tenantId }, BACKGROUND);
  const isSentNow = await ctx.write(async (tx) => {
    const [prepared] = await tx.query(prepareMail(tx, mailId, hashOfKey(key)));
    const afterSeconds = prepared?.quietSeconds ?? null;
    if (afterSeconds === null) return prepared !== undefined;
    await tx.query(addJobs(tx, 'sendNoticeMail', [job], { maxAttempts: QUEUE_ATTEMPTS, afterSeconds }));
    return false;
  });
  if (!isSentNow) return;
  const kind = { table: 'notice_mails', label: 'notice' } as const;
  await sendMail(deps, { ...kind, compose: (mail) => compose(deps.publicUrl, mail, key) }, job);
}

/** Why a mail is not sent. The log shows them, and `OPTED_OUT` is a status there. */
export const OPTED_OUT = 'the recipient has opted out';

async function compose(
  publicUrl: string | undefined,
  { ctx, id }: Mail,
  key: string,
): Promise<Message | { skipped: string }> {
  const [[row], parcels] = await ctx.read([selectMail(ctx, id), parcelsOfMail(ctx, id, MAX_LISTED)]);
  if (!row?.isSwitchedOn) return { skipped: 'notices are switched off' };
  if (publicUrl === undefined) return { skipped: 'PUBLIC_URL is not set, so the mail would have no link' };
  if (row.isOptedOut) return { skipped: OPTED_OUT };
  if (!row.isAddressed) return { skipped: 'the customer has another address' };
  if (!isAddress(row.recipient)) return { skipped: 'the customer has no usable e-mail address' };
  if (parcels.length === 0) return { skipped: 'the parcels belong to the customer no longer' };
  const page = operations.getNoticeChoice.path.replace('{key}', key);
  const link = `${publicUrl.replaceAll('{tenant}', row.tenantSlug)}${page}`;
  const replyTo = row.replyTo ?? row.courierEmail ?? undefined;
  return {
    id,
    senderName: nameOf(row),
    recipient: { name: '', address: row.recipient },
    ...(replyTo !== undefined && isAddress(replyTo) ? { replyTo } : {}),
    unsubscribeUrl: link,
    date: new Date(),
    ...renderNotice(row, parcels, link),
  };
}
