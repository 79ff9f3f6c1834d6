import { BACKGROUND } from '../../platform/audit/audit.js';
import { forEachTenant } from '../../platform/context/each-tenant.js';
import { makeContext, type SystemContext } from '../../platform/context/request-context.js';
import type { TaskDeps } from '../../platform/queue/task-context.js';
import { settleDelivered, START, type Place } from '../carrier-tracking/public.js';
import { emitPrealertEvents } from '../webhooks/public.js';
import { markMissing } from './missing-queries.js';

/** What one transaction examines. Each delivery may be settled, or make an event. */
const DELIVERIES_PER_BATCH = 500;

/**
 * Cron job: reports each parcel that was delivered and not scanned to its courier, once per pre-alert, tenant by tenant. It settles deliveries
 * that were scanned, so that neither the job nor the list grows with all that was ever delivered.
 */
export async function reportMissingPrealerts({
  db,
  stopping,
}: Pick<TaskDeps, 'db' | 'stopping'>): Promise<void> {
  await forEachTenant(db, BACKGROUND, async ({ caller }) => {
    for (let after: Place | undefined = START; after && !stopping.aborted;)
      after = await reportNext(makeContext(db, caller, BACKGROUND), after);
  });
}

/** Returns the place after which there may be more. */
const reportNext = (ctx: SystemContext, after: Place): Promise<Place | undefined> =>
  ctx.write(async (tx) => {
    const [last] = await tx.query(settleDelivered(tx, after, DELIVERIES_PER_BATCH));
    if (!last) return undefined;
    emitPrealertEvents(tx, 'prealert.missing', await tx.query(markMissing(tx, after, last)));
    return last.examined === DELIVERIES_PER_BATCH ? last : undefined;
  });
