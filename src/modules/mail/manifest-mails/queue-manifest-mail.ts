import { newId } from '../../../platform/values/ids.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import type { Tx } from '../../../platform/db/scope.js';
import { QUEUE_ATTEMPTS } from '../delivery/send-mail.js';
import { insertManifestMails, type ManifestStatusChange } from './queries.js';

/**
 * Queues one mail per courier, in the transaction that changes the manifest. Above the limit of a courier its mail is skipped and the
 * change succeeds. The job of a skipped mail finds it settled.
 */
export async function queueManifestMails(
  tx: Tx,
  change: ManifestStatusChange,
  courierIds: string[],
): Promise<void> {
  const mails = courierIds.map((courierId) => ({ id: newId(), courier_id: courierId }));
  tx.later(insertManifestMails(tx.tenantId, change, mails));
  tx.later(
    addJobs(
      tx,
      'sendManifestMail',
      mails.map(({ id }) => ({ tenantId: tx.tenantId, mailId: id })),
      { maxAttempts: QUEUE_ATTEMPTS },
    ),
  );
}
