import { wakeDeliveryQueueWithin, type DeliveryQueue } from '../platform/queue/delivery-queues.js';
import type { TaskDeps } from '../platform/queue/task-context.js';
import type { JobShare, JobWork } from './job-share.js';

/** A receiver that does not answer holds its run for ten seconds at least. */
const SLOW_MS = 5_000;

/** Sends the deliveries of a queue, and returns the number of responses. */
type Deliver = (own: TaskDeps, queue: DeliveryQueue) => Promise<number>;

/**
 * Returns the function of a delivery job. Those whose last run in this process took long and had less than a response per second only run within a
 * share, so that receivers that hang leave slots to others. Where nothing is known of a receiver, it is taken for a quick one.
 */
export function shareOfSlow(share: JobShare, deliver: Deliver): JobWork<'deliver'> {
  const slow = new Set<string>();
  const keyOf = ({ courierId, endpoint }: DeliveryQueue) => `${courierId} ${endpoint}`;

  async function timed(own: TaskDeps, queue: DeliveryQueue): Promise<void> {
    const startedMs = performance.now();
    const responses = await deliver(own, queue);
    const tookMs = performance.now() - startedMs;
    if (tookMs >= SLOW_MS && responses < tookMs / 1_000) slow.add(keyOf(queue));
    else slow.delete(keyOf(queue));
  }

  // A delivery queue has one waiting job, so it is not added as a further one.
  const limited = share.within('deliver', timed, (ctx, queue, { withinSeconds }) =>
    wakeDeliveryQueueWithin(ctx, queue, withinSeconds),
  );
  return (own, queue, job) => (slow.has(keyOf(queue)) ? limited(own, queue, job) : timed(own, queue));
}
