import { BACKGROUND } from '../../../platform/audit/audit.js';
import { forEachTenant } from '../../../platform/context/each-tenant.js';
import { makeContext } from '../../../platform/context/request-context.js';
import type { SystemTx } from '../../../platform/db/scope.js';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import type { TaskDeps } from '../../../platform/queue/task-context.js';
import { QUEUE_ATTEMPTS } from '../../mail/public.js';
import { emitRecordEvents } from '../../webhooks/public.js';
import { holdDue, tellDue } from './due-queries.js';
import { toEvent } from './notice-event.js';
import { couriersToTell, lockSettings, planNotices } from './plan-queries.js';

type Deps = Pick<TaskDeps, 'db' | 'stopping'>;

/** What one transaction examines. */
const EVENTS_PER_BATCH = 500;
const CUSTOMERS_PER_BATCH = 200;
/** With events, which name up to 500 parcels of each. */
const CUSTOMERS_PER_BATCH_OF_EVENTS = 20;

/**
 * Cron job: finds out from the events of couriers what their customers are told, and queues the mails that are due, tenant by tenant. Nothing is
 * added to the transactions that change parcels.
 */
export async function tellCustomers({ db, stopping }: Deps): Promise<void> {
  await forEachTenant(db, BACKGROUND, async (ctx) => {
    const [couriers] = await ctx.read([couriersToTell(ctx)]);
    for (const { courierId } of couriers)
      if (!stopping.aborted) await tellOf({ db, stopping }, ctx.caller, courierId);
  });
}

/** Mails are made when all events are examined, so that what belongs together is told together. */
async function tellOf({ db, stopping }: Deps, caller: SystemCaller, courierId: string): Promise<void> {
  for (const step of [planNext, tellNext])
    for (let hasMore = true; hasMore && !stopping.aborted;)
      hasMore = await makeContext(db, caller, BACKGROUND).write((tx) => step(tx, courierId));
}

/** Returns whether there may be more events. */
async function planNext(tx: SystemTx, courierId: string): Promise<boolean> {
  const [settings] = await tx.query(lockSettings(tx, courierId));
  if (!settings?.isEnabled) return false;
  const [planned] = await tx.query(planNotices(tx, courierId, EVENTS_PER_BATCH));
  return planned?.examined === EVENTS_PER_BATCH;
}

/** Returns whether there may be more customers. */
async function tellNext(tx: SystemTx, courierId: string): Promise<boolean> {
  const [settings] = await tx.query(lockSettings(tx, courierId));
  if (!settings) return false;
  const { isChosen, quietUntil, mailsLeft } = settings;
  if (quietUntil ?? mailsLeft === 0) {
    await tx.count(holdDue(tx, courierId, quietUntil ?? 'tomorrow'));
    return false;
  }
  const batch = Math.min(isChosen ? CUSTOMERS_PER_BATCH_OF_EVENTS : CUSTOMERS_PER_BATCH, mailsLeft);
  const [told] = await tx.query(tellDue(tx, courierId, batch));
  if (!told) throw new Error('A query of constants returned no row.');
  const jobs = told.mailIds.map((mailId) => ({ tenantId: tx.tenantId, mailId }));
  emitRecordEvents(
    tx,
    told.events.map((customer) => toEvent(courierId, customer)),
  );
  if (jobs.length > 0) tx.later(addJobs(tx, 'sendNoticeMail', jobs, { maxAttempts: QUEUE_ATTEMPTS }));
  return told.customers === batch;
}
