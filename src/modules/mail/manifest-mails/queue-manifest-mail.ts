import type { Tx } from '../../../platform/db/transaction.js';
import { sql } from '../../../platform/db/transaction.js';
import { newId } from '../../../platform/values/ids.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import { QUEUE_ATTEMPTS } from '../delivery/send-mail.js';

/** The status change of a manifest that mails announce. */
export type ManifestStatusChange = {
  manifestId: string;
  manifestNumber: string;
  status: 'ready' | 'shipped' | 'completed';
};

/** Queues one mail per courier, in the transaction that changes the manifest. */
export async function queueManifestMails(
  tx: Tx,
  news: ManifestStatusChange,
  courierIds: string[],
): Promise<void> {
  const { tenantId } = tx.caller;
  const mails = courierIds.map((courierId) => ({ id: newId(), courier_id: courierId }));
  await tx.execute(sql`
    insert into manifest_mails (tenant_id, id, courier_id, manifest_id, manifest_number, manifest_status)
    select ${tenantId}::uuid, id, courier_id, ${news.manifestId}::uuid, ${news.manifestNumber}, ${news.status}
    from jsonb_to_recordset(${JSON.stringify(mails)}::jsonb) as mail (id uuid, courier_id uuid)`);
  await tx.query(
    addJobs(
      'sendManifestMail',
      mails.map(({ id }) => ({ tenantId, mailId: id })),
      { maxAttempts: QUEUE_ATTEMPTS },
    ),
  );
}
