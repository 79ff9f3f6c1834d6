import { audit } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { isDateTime } from '../../../platform/contract/validator.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { assertQuota, quotaOf, remainingQuota, takeQuota } from '../../../platform/limits/stored/quotas.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { targetCourierId } from '../../couriers/public.js';
import { lockEndpoints, type Obstacles } from './endpoints.js';
import { countMatching, redeliverMatching, type RedeliveryFilter } from './redeliver-queries.js';
import { recoverEvents, selectEndpoints, type Obstacle } from './resend-queries.js';

type Input<Action> = Extract<BodyOf<'manageWebhookDeliveries'>, { action: Action }>;
type Counts = { selected: number; queued: number; pending: number };
type Recovered = Counts & { skipped: Obstacle | null };
export type Recovery = { since: string; endpoints: Record<Endpoint, Recovered>; hasMore: boolean };

// Source: the contract's limits.
const MAX_RECOVERED = 100_000;
const RECOVERED = quotaOf('recovered_webhooks');

/**
 * Sends the events missed since a time again, and what is pending now instead of at its next attempt, at most 100,000 and at most what is left of the courier's quota.
 * @throws ApiError validation_failed, courier_not_found, quota_exceeded
 */
export async function recoverSince(ctx: UserContext, input: Input<'recover_since'>): Promise<Recovery> {
  const { since } = input;
  if (!isDateTime(since)) throw invalidFieldError('since', 'invalid_date_time');
  const courierId = targetCourierId(ctx.caller, input.courier_id);
  return ctx.write(async (tx) => {
    const { obstacles, chosen } = await lockEndpoints(tx, courierId);
    await assertQuota(tx, RECOVERED, courierId);
    // Exact, because the courier is locked.
    const atMost = Math.min(MAX_RECOVERED, await remainingQuota(tx, RECOVERED, courierId));
    const open = openOf(obstacles);
    const rows = await tx.query(recoverEvents(ctx, courierId, since, { open, chosen, atMost }));
    const endpoints = await settleRecovery(tx, obstacles, {
      action: 'webhook.recovered',
      courierId,
      request: { since },
      countsOf(endpoint) {
        const { selected = 0, queued = 0, pending = 0 } = rows.find((row) => row.endpoint === endpoint) ?? {};
        return { selected, queued, pending };
      },
    });
    return { since, endpoints, hasMore: rows[0]?.hasMore ?? false };
  });
}

/**
 * Counts the events of the matching deliveries without a lock, because it may read all deliveries of the courier.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function countMatchingDeliveries(
  ctx: UserContext,
  input: Input<'redeliver_matching'>,
): Promise<Recovery> {
  const filter = toFilter(input, targetCourierId(ctx.caller, input.courier_id));
  const [urls, counted] = await ctx.read([
    selectEndpoints(ctx, filter.courierId),
    countMatching(ctx, filter, MAX_RECOVERED),
  ]);
  if (urls.length === 0) throw new ApiError('courier_not_found');
  assertNotTooMany(counted);
  const of = (name: Endpoint): Recovered => ({
    selected: selectedOf(counted, name),
    queued: 0,
    pending: 0,
    skipped: urls.find(({ endpoint }) => endpoint === name)?.obstacle ?? null,
  });
  const endpoints = { add_package: of('add_package'), update_package: of('update_package') };
  return { since: filter.from, endpoints, hasMore: false };
}

type Counted = { endpoint: Endpoint; selected: number }[];

const selectedOf = (counted: Counted, name: Endpoint): number =>
  counted.find(({ endpoint }) => endpoint === name)?.selected ?? 0;

/** @throws ApiError validation_failed */
function assertNotTooMany(counted: Counted): void {
  if (counted.reduce((sum, { selected }) => sum + selected, 0) > MAX_RECOVERED)
    throw new ApiError('validation_failed', {
      variant: 'too_many_webhooks',
      args: { limit: MAX_RECOVERED },
    });
}

/**
 * Sends the events of the matching deliveries again, all or none.
 * @throws ApiError validation_failed, courier_not_found, quota_exceeded
 */
export async function redeliverMatchingDeliveries(
  ctx: UserContext,
  input: Input<'redeliver_matching'>,
): Promise<Recovery> {
  const filter = toFilter(input, targetCourierId(ctx.caller, input.courier_id));
  const { courierId } = filter;
  return ctx.write(async (tx) => {
    const { obstacles } = await lockEndpoints(tx, courierId);
    const counted = await tx.query(countMatching(ctx, filter, MAX_RECOVERED));
    assertNotTooMany(counted);
    const open = openOf(obstacles);
    // Checked before the write, because rolled-back rows would still take space in the table.
    const wanted = open.reduce((sum, endpoint) => sum + selectedOf(counted, endpoint), 0);
    await assertQuota(tx, RECOVERED, courierId, Math.max(wanted, 1));
    const rows = await tx.query(redeliverMatching(ctx, filter, open));
    const endpoints = await settleRecovery(tx, obstacles, {
      action: 'webhook.redelivered',
      courierId,
      request: filter,
      countsOf(endpoint) {
        const { queued = 0, pending = 0 } = rows.find((row) => row.endpoint === endpoint) ?? {};
        return { selected: selectedOf(counted, endpoint), queued, pending };
      },
    });
    return { since: filter.from, endpoints, hasMore: false };
  });
}

/** @throws ApiError validation_failed */
function toFilter(input: Input<'redeliver_matching'>, courierId: string): RedeliveryFilter {
  const { from, to = null } = input;
  if (!isDateTime(from)) throw invalidFieldError('from', 'invalid_date_time');
  if (to !== null && !isDateTime(to)) throw invalidFieldError('to', 'invalid_date_time');
  if (to !== null && to < from) throw invalidFieldError('to', 'before', { other: 'from' });
  const { endpoint = null, type = null, status = null, package_id: packageId = null } = input;
  return { courierId, from, to, endpoint, type, status, packageId };
}

/** The URLs that can be sent to. */
const openOf = (obstacles: Obstacles): Endpoint[] =>
  [...obstacles].filter(([, obstacle]) => obstacle === null).map(([endpoint]) => endpoint);

type Outcome = {
  action: 'webhook.recovered' | 'webhook.redelivered';
  courierId: string;
  /** What was asked for, as the audit trail records it. */
  request: Record<string, unknown>;
  countsOf: (endpoint: Endpoint) => Counts;
};

/** Records what was sent again, and counts it against the quota of the courier. Returns it per URL. */
async function settleRecovery(
  tx: UserTx,
  obstacles: Obstacles,
  { action, courierId, request, countsOf }: Outcome,
): Promise<Recovery['endpoints']> {
  const of = (endpoint: Endpoint): Recovered => ({
    ...countsOf(endpoint),
    skipped: obstacles.get(endpoint) ?? null,
  });
  const endpoints = { add_package: of('add_package'), update_package: of('update_package') };
  tx.later(audit(tx, { action, entity: 'courier', entityId: courierId, after: { ...request, endpoints } }));
  const sent = Object.values(endpoints).reduce((sum, { queued, pending }) => sum + queued + pending, 0);
  await takeQuota(tx, RECOVERED, courierId, sent);
  return endpoints;
}
