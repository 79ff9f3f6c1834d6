import { tenantRows } from '../../../platform/db/filters.js';
import { transaction, sql, type Tx } from '../../../platform/db/transaction.js';
import { recordPackageEvents } from '../events/events.js';
import type { DeliveryQueueScope } from './delivery-queue-queries.js';

/**
 * Turns queued synchronisations of the queue's courier into events with the packages' current state, oldest
 * first. Returns whether there were any. A later change of a package queues a new synchronisation (decision
 * 0014). If the URL is missing or paused, the synchronisation fails at once; the feed contains its event
 * anyway.
 */
export async function recordQueuedSyncs(
  { db, caller, queue }: DeliveryQueueScope,
  atMost: number,
): Promise<boolean> {
  if (queue.endpoint !== 'update_package') return false;
  return transaction(db, caller, async (tx) => {
    const taken = await tx.query<{ package_id: string; job_id: string }>(sql`
      with waiting as (
        select s.package_id from package_syncs s
        where ${tenantRows(db, caller, 's')} and s.courier_id = ${queue.courierId}::uuid and s.status = 'queued'
        order by s.requested_at, s.package_id limit ${atMost}::int
        for update skip locked
      )
      update package_syncs s set status = 'sending' from waiting
      where ${tenantRows(db, caller, 's')} and s.package_id = waiting.package_id
      returning s.package_id, s.job_id`);
    if (taken.length === 0) return false;
    const changes = taken.map(({ package_id, job_id }) => ({ packageId: package_id, syncJobId: job_id }));
    const scope = { tenantId: tx.caller.tenantId, applicationFilters: db.applicationFilters };
    await recordPackageEvents(scope, tx, 'package.updated', changes);
    await failUndeliverable(
      tx,
      taken.map(({ job_id }) => job_id),
    );
    return true;
  });
}

/** Fails the synchronisations without a delivery. */
async function failUndeliverable(tx: Tx, jobIds: string[]): Promise<void> {
  const { tenantId } = tx.caller;
  await tx.execute(sql`
    update package_syncs s set status = 'failed', settled_at = now()
    where s.tenant_id = ${tenantId}::uuid and s.job_id = any(${jobIds}::uuid[]) and s.status = 'sending'
      and not exists (select from webhook_deliveries d where d.tenant_id = s.tenant_id and d.sync_job_id = s.job_id
        and d.status = 'pending')`);
}
