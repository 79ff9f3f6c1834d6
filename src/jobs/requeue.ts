import { failAbandonedRuns } from '../modules/customers/sync/sync-run.js';
import { tenantRows } from '../platform/db/filters.js';
import { systemCallers } from '../platform/db/tenants.js';
import { pipeline, sql } from '../platform/db/transaction.js';
import { wakeDeliveryQueues } from '../platform/queue/delivery-queues.js';
import { endIdleSessions } from '../modules/sessions/idle.js';
import type { TaskDeps } from '../platform/queue/task-context.js';

/**
 * Wakes every lane in which something is due, and ends what nobody works on any more: whatever went wrong with a wake-up, a
 * minute later it is made good.
 */
export async function requeue({ db }: Pick<TaskDeps, 'db'>): Promise<void> {
  await db.pool.query(DROP_SUPERSEDED);
  for (const caller of await systemCallers(db)) {
    const due = sql`
      select d.courier_id, d.endpoint from webhook_deliveries d
      where ${tenantRows(db, caller, 'd')} and d.status = 'pending' and d.next_attempt_at <= now()
        and (d.claimed_until is null or d.claimed_until < now())
      union
      select s.courier_id, 'update_package' from package_syncs s
      where ${tenantRows(db, caller, 's')} and s.status = 'queued'`;
    await pipeline(db, caller, [wakeDeliveryQueues(caller.tenantId, due)]);
    await failAbandonedRuns(db, caller.tenantId);
    await endIdleSessions(db, caller);
  }
}

// A lane's job that was woken anew while it ran has handed its key to the one that follows. If it then failed, or its
// worker was killed, it stays behind for good, and looks like one that was given up.
const DROP_SUPERSEDED = `select graphile_worker.complete_jobs(array(
  select id from graphile_worker.jobs
  where task_identifier = 'deliver' and key is null and attempts >= max_attempts and locked_at is null))`;
