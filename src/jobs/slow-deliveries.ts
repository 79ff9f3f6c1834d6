import type { DeliveryQueue } from '../platform/queue/delivery-queues.js';
import type { JobShare, JobWork, Work } from './job-share.js';

/** A run of a receiver that does not answer takes ten seconds at least, and that of one that answers rarely so long. */
const SLOW_MS = 5_000;

/**
 * Returns the function of a delivery job. Those whose last run in this process was long only run within a share, so that receivers that hang
 * leave slots to others. Where nothing is known of a receiver, it is taken for a quick one.
 */
export function shareOfSlow(share: JobShare, deliver: Work<'deliver'>): JobWork<'deliver'> {
  const slow = new Set<string>();
  const keyOf = ({ courierId, endpoint }: DeliveryQueue) => `${courierId} ${endpoint}`;

  async function timed(...[own, queue]: Parameters<typeof deliver>): Promise<void> {
    const startedMs = performance.now();
    try {
      await deliver(own, queue);
    } finally {
      if (performance.now() - startedMs >= SLOW_MS) slow.add(keyOf(queue));
      else slow.delete(keyOf(queue));
    }
  }

  const limited = share.within('deliver', timed);
  return (own, queue, job) => (slow.has(keyOf(queue)) ? limited(own, queue, job) : timed(own, queue));
}
