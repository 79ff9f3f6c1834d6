import { newId } from '../../../platform/values/ids.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import type { Tx } from '../../../platform/db/scope.js';
import { QUEUE_ATTEMPTS } from '../delivery/send-mail.js';
import { insertAccountMail, type AccountMail } from './queries.js';

/**
 * Queues a mail about a user's account in the transaction of the change. A user without an address gets no
 * mail, and nobody gets one above the limits. Returns whether a mail was queued.
 *
 * @param encrypt returns the encrypted secret of the mail, which must not be stored in plain text
 */
export async function queueAccountMail(
  tx: Tx,
  mail: AccountMail,
  encrypt?: (mailId: string) => string,
): Promise<boolean> {
  const id = newId();
  const queued = await tx.query(insertAccountMail(tx, { ...mail, id, secretCipher: encrypt?.(id) }));
  if (queued.length === 0) return false;
  const jobs = queued.map(({ id: mailId }) => ({ tenantId: tx.tenantId, mailId }));
  await tx.query(addJobs(tx, 'sendAccountMail', jobs, { maxAttempts: QUEUE_ATTEMPTS }));
  return true;
}
