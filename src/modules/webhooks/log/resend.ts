import * as queries from './resend-queries.js';
import { audit } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { quotaOf, takeQuota } from '../../../platform/limits/stored/quotas.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { newId } from '../../../platform/values/ids.js';
import { targetCourierId } from '../../couriers/public.js';
import { assertOpen, lockEndpoints } from './endpoints.js';
import { readPageBefore, type PageBefore } from '../../../platform/context/read-page.js';
import {
  exchangesOf,
  oneDelivery,
  pageOfDeliveries,
  type DeliveryQuery,
  type DeliveryRow,
  type ExchangeRow,
} from './queries.js';
import { zoneOfDays } from '../../tenant-settings/public.js';

/**
 * Returns one page of the delivery log: all couriers for staff, its own deliveries for a courier.
 * @throws ApiError validation_failed if `to` is before `from`
 */
export async function listDeliveries(
  ctx: UserContext,
  query: DeliveryQuery,
): Promise<PageBefore<DeliveryRow>> {
  const { from, to, limit } = query;
  if (from && to && to < from) throw invalidFieldError('to', 'before', { other: 'from' });
  return readPageBefore(ctx, pageOfDeliveries(ctx, query, await zoneOfDays(ctx, query.day_zone)), limit);
}

/**
 * Returns a delivery, and what was sent and answered in those of its attempts for which that was kept.
 * @throws ApiError delivery_not_found
 */
export async function readDelivery(
  ctx: UserContext,
  id: string,
): Promise<{ delivery: DeliveryRow; exchanges: ExchangeRow[] }> {
  const [[delivery], exchanges] = await ctx.read([oneDelivery(ctx, id), exchangesOf(ctx, id)]);
  if (!delivery) throw new ApiError('delivery_not_found');
  return { delivery, exchanges };
}

type Action<Name extends string> = Extract<BodyOf<'manageWebhookDeliveries'>, { action: Name }>;

/** The delivery that is sent now, and whether it is a new one. */
export type Resent = { id: string; eventId: string; endpoint: Endpoint; isNew: boolean };

// Source: the contract's limits.
const MAX_PENDING_TESTS = 10;
const SENDS = quotaOf('webhook_sends');

/**
 * Sends the event of a delivery again, in a new delivery or in the pending one.
 * @throws ApiError delivery_not_found, endpoint_missing, endpoint_paused, quota_exceeded
 */
export async function redeliver(ctx: UserContext, { delivery_id }: Action<'redeliver'>): Promise<Resent> {
  return ctx.write(async (tx) => {
    const [sent] = await tx.query(queries.findDelivery(ctx, delivery_id));
    if (!sent) throw new ApiError('delivery_not_found');
    const { eventId, courierId, endpoint } = sent;
    const { obstacles } = await lockEndpoints(tx, courierId);
    assertOpen(obstacles, endpoint, ['missing', 'paused']);
    const [pending] = await tx.query(queries.makeDeliveriesDue(ctx, sent));
    const resent = { id: pending?.id ?? newId(), eventId, endpoint, isNew: pending === undefined };
    if (resent.isNew) await tx.count(queries.repeatDelivery(ctx, sent.id, resent.id));
    await tx.query(queries.wakeDeliveryQueue(ctx, courierId, endpoint));
    const after = { ...resent, of: sent.id };
    tx.later(audit(tx, { action: 'webhook.redelivered', entity: 'courier', entityId: courierId, after }));
    // Also for a pending delivery: sending it now is one more request to the courier's server.
    await takeQuota(tx, SENDS, courierId, 1);
    return resent;
  });
}

/**
 * Sends a test to a URL, even if it is paused.
 * @throws ApiError validation_failed, courier_not_found, endpoint_missing, tests_pending, quota_exceeded
 */
export async function sendTest(ctx: UserContext, input: Action<'send_test'>): Promise<Resent> {
  const courierId = targetCourierId(ctx.caller, input.courier_id);
  const { endpoint } = input;
  return ctx.write(async (tx) => {
    const { obstacles } = await lockEndpoints(tx, courierId);
    assertOpen(obstacles, endpoint, ['missing']);
    const pendingTests = { courierId, status: 'pending', origin: 'test' };
    if ((await tx.models.webhookDelivery.count({ where: pendingTests })) >= MAX_PENDING_TESTS)
      throw new ApiError('tests_pending');
    const test = { id: newId(), eventId: newId(), endpoint, isNew: true };
    const data = { message: 'A test from Crossdock. Answer it with any status from 200 to 299.' };
    await tx.count(queries.insertTest(ctx, { ...test, courierId, data }));
    await tx.query(queries.wakeDeliveryQueue(ctx, courierId, endpoint));
    const after = { ...test };
    tx.later(audit(tx, { action: 'webhook.test_sent', entity: 'courier', entityId: courierId, after }));
    await takeQuota(tx, SENDS, courierId, 1);
    return test;
  });
}
