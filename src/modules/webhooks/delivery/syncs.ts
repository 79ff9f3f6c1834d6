import type { SystemContext } from '../../../platform/context/request-context.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import { emitPackageEvents } from '../events/events.js';
import { failUndeliverable, takeQueuedSyncs } from './syncs-queries.js';

/**
 * Turns queued synchronisations of the queue's courier into events with the packages' current state, oldest
 * first. Returns whether there were any. A later change of a package queues a new synchronisation (decision
 * 0014). If the URL is missing or paused, the synchronisation fails at once; the feed contains its event
 * anyway.
 */
export async function recordQueuedSyncs(
  ctx: SystemContext,
  { courierId, endpoint }: DeliveryQueue,
  atMost: number,
): Promise<boolean> {
  if (endpoint !== 'update_package') return false;
  return ctx.write(async (tx) => {
    const syncs = await tx.query(takeQueuedSyncs(ctx, courierId, atMost));
    if (syncs.length === 0) return false;
    const changes = syncs.map(({ packageId, jobId, traceparent }) => ({
      packageId,
      syncJobId: jobId,
      traceparent,
    }));
    await emitPackageEvents(tx, 'package.updated', changes);
    const jobIds = syncs.map(({ jobId }) => jobId);
    // After the events, whose deliveries it reads. It changes only rows that the transaction has locked.
    tx.last(() => [failUndeliverable(ctx, jobIds)]);
    return true;
  });
}
