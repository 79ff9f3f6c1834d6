import { auditLater, BACKGROUND } from '../../../platform/audit/audit.js';
import type { SystemContext, UserContext } from '../../../platform/context/request-context.js';
import { readPageBefore } from '../../../platform/context/read-page.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import type { Db } from '../../../platform/db/database.js';
import { forEachTenant } from '../../../platform/context/each-tenant.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { targetCourierId } from '../../couriers/public.js';
import { newId } from '../../../platform/values/ids.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import type { Tx, UserTx } from '../../../platform/db/scope.js';
import {
  failAbandoned,
  insertRun,
  insertScheduledRuns,
  oneRun,
  pageOfRuns,
  type RunRow,
} from './run-queries.js';

/**
 * Requests a synchronisation, or returns the one that is already open.
 *
 * @param sentCourierId ignored for couriers
 * @throws ApiError courier_not_found, sync_url_missing, 400 for staff without a courier
 */
export async function requestSync(
  ctx: UserContext,
  sentCourierId: string | undefined,
): Promise<{ row: RunRow; isNew: boolean }> {
  const courierId = targetCourierId(ctx.caller, sentCourierId);
  return ctx.write(async (tx) => {
    await assertHasUrl(tx, courierId);
    const { id, isNew } = await openRun(tx, courierId);
    if (isNew) {
      auditLater(tx, 'customer_sync.requested', id, { after: { courier_id: courierId } });
      await tx.query(addJobs(ctx, 'syncCustomers', [{ tenantId: ctx.tenantId, runId: id }]));
    }
    const [row] = await tx.query(oneRun(ctx, id));
    if (!row) throw new Error('The run was not found in the transaction that wrote it.');
    return { row, isNew };
  });
}

async function assertHasUrl(tx: Tx, courierId: string): Promise<void> {
  const select = { apiUrlGetCustomers: true };
  const courier = await tx.models.courier.findFirst({ where: { id: courierId }, select });
  if (!courier) throw new ApiError('courier_not_found');
  if (courier.apiUrlGetCustomers === null) throw new ApiError('sync_url_missing');
}

/** Returns the courier's only open run: a new one, or the one that already exists. */
async function openRun(tx: UserTx, courierId: string): Promise<{ id: string; isNew: boolean }> {
  const where = { courierId, status: { in: ['queued', 'running'] } };
  for (;;) {
    const [created] = await tx.query(insertRun(tx, newId(), courierId));
    if (created) return { id: created.id, isNew: true };
    const open = await tx.models.customerSyncRun.findFirst({ where, select: { id: true } });
    if (open) return { id: open.id, isNew: false };
    // The open run ended between the two statements, so the insertion is tried again.
  }
}

/** Returns one page of runs and the cursor of the next page. */
export const listSyncs = (ctx: UserContext, query: QueryOf<'listCustomerSyncs'>) =>
  readPageBefore(ctx, pageOfRuns(ctx, query), query.limit);

/** The jobs of one hour are spread over this time, because couriers' systems often share a server. */
const SPREAD_SECONDS = 600;

/** Cron job: creates a run for each courier that has a URL and no open run. */
export async function scheduleCustomerSyncs({ db }: { db: Db }): Promise<void> {
  await forEachTenant(db, BACKGROUND, (ctx) =>
    ctx.write(async (tx) => {
      const opened = await tx.query(insertScheduledRuns(ctx));
      const jobs = opened.map((run) => ({ tenantId: ctx.tenantId, runId: run.id }));
      if (jobs.length > 0)
        await tx.query(addJobs(ctx, 'syncCustomers', jobs, { withinSeconds: SPREAD_SECONDS }));
    }),
  );
}

const ABANDONED_MINUTES = 60;

/** Fails the tenant's abandoned runs, so that new ones can start. Returns their number. */
export async function failAbandonedRuns(ctx: SystemContext): Promise<number> {
  const error = 'The run was cancelled because it did not end within an hour. The next run tries again.';
  const [failed] = await ctx.write([failAbandoned(ctx, ABANDONED_MINUTES, error)]);
  return failed.length;
}
