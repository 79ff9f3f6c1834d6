import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import {
  makePendingDue,
  wakeDeliveryQueues,
  type DeliveryQueue,
} from '../../../platform/queue/delivery-queues.js';
import { sql } from '../../../platform/db/statements.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';

/** Makes the pending deliveries of a queue due, and wakes the queue. */
export async function sendPending({ db }: Pick<TaskDeps, 'db'>, queue: DeliveryQueue): Promise<void> {
  const ctx = makeContext(db, { kind: 'system', tenantId: queue.tenantId }, BACKGROUND);
  const woken = sql`select ${queue.courierId}::uuid as courier_id, ${queue.endpoint} as endpoint`;
  await ctx.write([makePendingDue(ctx, queue), wakeDeliveryQueues(ctx, woken)]);
}
