import { newId } from '../../../platform/values/ids.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import type { Tx } from '../../../platform/db/scope.js';
import { QUEUE_ATTEMPTS } from '../delivery/send-mail.js';
import { insertAccountMail, type AccountMailKind } from './queries.js';

export type AccountMail = {
  userId: string;
  kind: AccountMailKind;
  /** The recipient's address, by default the user's own. */
  recipient?: string;
  /** The client of the request that caused the mail; undefined if somebody other than the user caused it. */
  client?: { address: string; userAgent: string | undefined };
  /** Returns the encrypted secret of the mail, which must not be stored in plain text. */
  encrypt?: (mailId: string) => string;
};

/**
 * Queues a mail about a user's account in the transaction of the change. A user without an address gets no
 * mail.
 */
export async function queueAccountMail(
  tx: Tx,
  { userId, kind, recipient, client, encrypt }: AccountMail,
): Promise<void> {
  const id = newId();
  const mail = { id, userId, kind, recipient, client, secretCipher: encrypt?.(id) };
  const queued = await tx.query(insertAccountMail(tx, mail));
  if (queued.length === 0) return;
  const jobs = queued.map(({ id: mailId }) => ({ tenantId: tx.tenantId, mailId }));
  await tx.query(addJobs(tx, 'sendAccountMail', jobs, { maxAttempts: QUEUE_ATTEMPTS }));
}
