import { newId } from '../../../platform/values/ids.js';
import { addSelectedJobs } from '../../../platform/queue/jobs.js';
import type { Tx } from '../../../platform/db/scope.js';
import { QUEUE_ATTEMPTS } from '../delivery/send-mail.js';
import { insertManifestMails, selectMailJobs, type ManifestStatusChange } from './queries.js';

/**
 * Queues one mail per courier, in the transaction that changes the manifest and has locked it. A courier that has had three
 * of this manifest and status within a day gets none. Above the limit of a courier its mail is skipped and the change succeeds.
 */
export async function queueManifestMails(
  tx: Tx,
  change: ManifestStatusChange,
  courierIds: string[],
): Promise<void> {
  const mails = courierIds.map((courierId) => ({ id: newId(), courier_id: courierId }));
  tx.later(insertManifestMails(tx.tenantId, change, mails));
  const ids = mails.map(({ id }) => id);
  tx.later(addSelectedJobs(tx, 'sendManifestMail', selectMailJobs(tx, ids), { maxAttempts: QUEUE_ATTEMPTS }));
}
