import { finishRenames } from '../modules/prealerts/public.js';
import { failAbandonedChecks } from '../modules/integration-checks/checks.js';
import { failAbandonedRuns } from '../modules/customers/sync/sync-run.js';
import { tenantRows } from '../platform/db/filters.js';
import { forEachTenant } from '../platform/context/each-tenant.js';
import { BACKGROUND } from '../platform/audit/audit.js';
import { makeContext } from '../platform/context/request-context.js';
import { sql, type Sql } from '../platform/db/statements.js';
import { wakeDeliveryQueues } from '../platform/queue/delivery-queues.js';
import { endIdleSessions } from '../modules/sessions/manage.js';
import type { TaskDeps } from '../platform/queue/task-context.js';
import type { SystemScope } from '../platform/db/scope.js';

/**
 * Queues a job for every delivery queue with due deliveries, ends abandoned synchronisations, checks and idle sessions, and finishes renames. It
 * runs every minute and repairs lost jobs.
 */
export async function requeue({ db }: Pick<TaskDeps, 'db'>): Promise<void> {
  await db.pool.query(DROP_SUPERSEDED);
  try {
    await forEachTenant(db, BACKGROUND, async (ctx) => {
      await ctx.write([wakeDeliveryQueues({ tenantId: ctx.tenantId }, dueQueues(ctx))]);
      await failAbandonedRuns(makeContext(db, ctx.caller, BACKGROUND));
      await failAbandonedChecks(makeContext(db, ctx.caller, BACKGROUND));
      await endIdleSessions(makeContext(db, ctx.caller, BACKGROUND));
    });
  } finally {
    // Last, because it takes seconds where a customer has many pre-alerts, and no tenant's deliveries wait for it.
    await forEachTenant(db, BACKGROUND, ({ caller }) => finishRenames(db, caller));
  }
}

const dueQueues = (ctx: SystemScope): Sql => sql`
  select d.courier_id, d.endpoint from webhook_deliveries d
  where ${tenantRows(ctx, 'd')} and d.status = 'pending' and d.next_attempt_at <= now()
    and (d.claimed_until is null or d.claimed_until < now())
  union
  select s.courier_id, 'update_package' from package_syncs s
  where ${tenantRows(ctx, 's')} and s.status = 'queued'`;

// A delivery job that was queued again while it ran has lost its key to its successor. If it then failed or its worker
// crashed, it would stay forever and look like a job that has failed all attempts.
const DROP_SUPERSEDED = `select graphile_worker.complete_jobs(array(
  select id from graphile_worker.jobs
  where task_identifier = 'deliver' and key is null and attempts >= max_attempts and locked_at is null))`;
