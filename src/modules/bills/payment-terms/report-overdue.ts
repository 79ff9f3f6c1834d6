import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import { forEachTenant } from '../../../platform/context/each-tenant.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { Bill } from '../../../platform/db/models/types.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { once, type Sql } from '../../../platform/db/statements.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';
import { emitBillEvents } from '../shared/bill-events.js';
import { isOverdue } from '../shared/bill-row.js';

/** The bills of one transaction. Each may have an event. */
const BILLS_PER_BATCH = 500;

/** Cron job: reports each bill that has become overdue to its courier, once, tenant by tenant. */
export async function reportOverdueBills({ db, stopping }: Pick<TaskDeps, 'db' | 'stopping'>): Promise<void> {
  await forEachTenant(db, BACKGROUND, async ({ caller }) => {
    for (let found = BILLS_PER_BATCH; found === BILLS_PER_BATCH && !stopping.aborted;) {
      const ctx = makeContext(db, caller, BACKGROUND);
      found = await ctx.write(async (tx) => {
        const bills = await tx.query(markOverdue(ctx, BILLS_PER_BATCH));
        await emitBillEvents(
          tx,
          'bill.overdue',
          bills.map(({ id }) => id),
        );
        return bills.length;
      });
    }
  });
}

/**
 * Records that bills are overdue, and returns those for which it was not recorded. A bill that is being paid is locked: the statement waits,
 * and leaves it out once it is paid.
 */
const markOverdue = (ctx: SystemScope, atMost: number): Sql<Pick<Bill, 'id'>> =>
  once`
    with found as (
      select b.tenant_id, b.id from bills b
      where ${tenantRows(ctx, 'b')} and ${isOverdue} and b.overdue_at is null
      order by b.id limit ${atMost}::int for update
    )
    update bills b set overdue_at = now()
    from found where b.tenant_id = found.tenant_id and b.id = found.id
    returning b.id`;
