import type { Tx } from '../../platform/db/scope.js';
import type { PersonCaller } from '../../platform/identity/callers.js';
import { quotaOf, takeQuota } from '../../platform/limits/stored/quotas.js';
import { queueAccountMail, type AccountMail } from '../mail/public.js';

const MAILS_PER_DAY = quotaOf('account_mails');

/**
 * Queues mails about a change of the account of a user by `caller`, who chooses the recipients: nobody has confirmed the addresses. So
 * a caller causes a limited number of them.
 *
 * @throws ApiError quota_exceeded
 */
export async function queueMailsOf(tx: Tx, caller: PersonCaller, mails: AccountMail[]): Promise<void> {
  let queued = 0;
  for (const mail of mails) if (await queueAccountMail(tx, mail)) queued += 1;
  await takeQuota(tx, MAILS_PER_DAY, caller, queued);
}
