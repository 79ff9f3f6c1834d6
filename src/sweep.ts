import { settleAbandonedRuns } from './customers/sync-run.js';
import { tenantRows } from './db/filters.js';
import { systemCallers } from './db/tenants.js';
import { flushInScope, sql } from './db/transaction.js';
import { wakeLanes } from './queue/lanes.js';
import type { TaskDeps } from './tasks.js';

/**
 * Wakes every lane in which something is due, and ends what nobody works on any more: whatever went wrong with a wake-up, a
 * minute later it is made good.
 */
export async function sweep({ db }: Pick<TaskDeps, 'db'>): Promise<void> {
  for (const caller of await systemCallers(db)) {
    const due = sql`
      select d.courier_id, d.endpoint from webhook_deliveries d
      where ${tenantRows(db, caller, 'd')} and d.status = 'pending' and d.next_attempt_at <= now()
        and (d.claimed_until is null or d.claimed_until < now())
      union
      select s.courier_id, 'update_package' from package_syncs s
      where ${tenantRows(db, caller, 's')} and s.status = 'queued'`;
    await flushInScope(db, caller, [wakeLanes(caller.tenantId, due)]);
    await settleAbandonedRuns(db, caller.tenantId);
  }
}
