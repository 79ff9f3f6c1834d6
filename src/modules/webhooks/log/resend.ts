import { auditStatement } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { isCalendarDate } from '../../../platform/contract/validator.js';
import { takeQuota, type Quota } from '../../../platform/db/quotas.js';
import { transaction, type Db, type Tx } from '../../../platform/db/transaction.js';
import { ApiError, invalidFieldError, type FailureCode } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { targetCourierId } from '../events/target-courier.js';
import * as queries from './resend-queries.js';

/** The context of a redelivery, a test or a recovery. */
export type Change = { db: Db; caller: UserCaller; requestId: string };
type Ctx = Change & { tx: Tx };

type Action<Name extends string> = Extract<BodyOf<'manageWebhookDeliveries'>, { action: Name }>;

/** The delivery that is sent now, and whether it is a new one. */
export type Resent = { id: string; eventId: string; endpoint: Endpoint; isNew: boolean };

// Source: the contract's limits.
const MAX_PENDING_TESTS = 10;
const MAX_RECOVERED = 100_000;
const SENDS: Quota = {
  kind: 'webhook_sends',
  period: 'hour',
  limit: 300,
};

/**
 * Sends the event of a delivery again, in a new delivery or in the pending one.
 * @throws ApiError delivery_not_found, endpoint_missing, endpoint_paused, quota_exceeded
 */
export async function redeliver(change: Change, { delivery_id }: Action<'redeliver'>): Promise<Resent> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const [sent] = await tx.query<queries.SentRow>(queries.findDelivery(ctx, delivery_id));
    if (!sent) throw new ApiError('delivery_not_found');
    const { event_id: eventId, courier_id: courierId, endpoint } = sent;
    assertOpen(await lockEndpoints(ctx, courierId), endpoint, ['missing', 'paused']);
    const [waiting] = await tx.query<{ id: string }>(queries.makeDeliveriesDue(ctx, sent));
    const resent = { id: waiting?.id ?? newId(), eventId, endpoint, isNew: waiting === undefined };
    if (resent.isNew) await tx.execute(queries.repeatDelivery(ctx, sent.id, resent.id));
    await tx.query(queries.wakeDeliveryQueue(ctx, courierId, endpoint));
    await record(ctx, courierId, 'webhook.redelivered', { ...resent, of: sent.id });
    await takeQuota(tx, SENDS, { tenantId: change.caller.tenantId, courierId }, resent.isNew ? 1 : 0);
    return resent;
  });
}

/**
 * Sends a test to a URL, even if it is paused.
 * @throws ApiError validation_failed, courier_not_found, endpoint_missing, tests_pending, quota_exceeded
 */
export async function sendTest(change: Change, input: Action<'send_test'>): Promise<Resent> {
  const courierId = targetCourierId(change.caller, input.courier_id);
  const { endpoint } = input;
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    assertOpen(await lockEndpoints(ctx, courierId), endpoint, ['missing']);
    const [tests] = await tx.query<{ waiting: number }>(queries.countPendingTests(ctx, courierId));
    if ((tests?.waiting ?? 0) >= MAX_PENDING_TESTS) throw new ApiError('tests_pending');
    const test = { id: newId(), eventId: newId(), endpoint, isNew: true };
    const data = { message: 'A test from Crossdock. Answer it with any status from 200 to 299.' };
    await tx.execute(queries.insertTest(ctx, { ...test, courierId, data }));
    await tx.query(queries.wakeDeliveryQueue(ctx, courierId, endpoint));
    await record(ctx, courierId, 'webhook.test_sent', test);
    await takeQuota(tx, SENDS, { tenantId: change.caller.tenantId, courierId }, 1);
    return test;
  });
}

export type Recovered = { selected: number; queued: number; skipped: queries.Obstacle };
export type Recovery = { since: string; endpoints: Record<Endpoint, Recovered>; hasMore: boolean };

/**
 * Sends the events missed since a time again, at most 100,000.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function recoverSince(change: Change, input: Action<'recover_since'>): Promise<Recovery> {
  const { since } = input;
  if (!isMoment(since)) throw invalidFieldError('since', 'invalid_date_time');
  const courierId = targetCourierId(change.caller, input.courier_id);
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const obstacles = await lockEndpoints(ctx, courierId);
    const open = [...obstacles].filter(([, obstacle]) => obstacle === null).map(([endpoint]) => endpoint);
    const rows = await tx.query<queries.RecoveredRow>(
      queries.recoverEvents(ctx, courierId, since, { open, atMost: MAX_RECOVERED }),
    );
    const of = (endpoint: Endpoint): Recovered => {
      const { selected = 0, queued = 0 } = rows.find((row) => row.endpoint === endpoint) ?? {};
      return { selected, queued, skipped: obstacles.get(endpoint) ?? null };
    };
    const endpoints = { add_package: of('add_package'), update_package: of('update_package') };
    await record(ctx, courierId, 'webhook.recovered', { since, endpoints });
    return { since, endpoints, hasMore: rows[0]?.has_more ?? false };
  });
}

/** Returns whether the text is an existing date and time in the format `YYYY-MM-DD HH:MM:SS`. */
const isMoment = (text: string) =>
  isCalendarDate(text.slice(0, 10)) && /^(?:[01]\d|2[0-3])(?::[0-5]\d){2}$/.test(text.slice(11));

/**
 * Locks the courier until the end of the transaction. Returns the obstacle of each URL, null for none.
 * @throws ApiError courier_not_found
 */
async function lockEndpoints(ctx: Ctx, courierId: string): Promise<Map<Endpoint, queries.Obstacle>> {
  // Read with a second statement: a statement that waits for the lock sees the pause from before the wait.
  await ctx.tx.query(queries.lockCourierForUpdate(ctx, courierId));
  const rows = await ctx.tx.query<queries.EndpointRow>(queries.selectEndpoints(ctx, courierId));
  if (rows.length === 0) throw new ApiError('courier_not_found');
  return new Map(rows.map(({ endpoint, obstacle }) => [endpoint, obstacle]));
}

const REFUSALS = {
  missing: 'endpoint_missing',
  paused: 'endpoint_paused',
} satisfies Record<NonNullable<queries.Obstacle>, FailureCode>;

function assertOpen(
  obstacles: Map<Endpoint, queries.Obstacle>,
  endpoint: Endpoint,
  refused: NonNullable<queries.Obstacle>[],
): void {
  const obstacle = obstacles.get(endpoint);
  if (obstacle && refused.includes(obstacle)) throw new ApiError(REFUSALS[obstacle]);
}

async function record(
  { tx, caller, requestId }: Ctx,
  courierId: string,
  action: string,
  after: object,
): Promise<void> {
  const fact = { action, entity: 'courier', entityId: courierId, after: { ...after } } as const;
  await tx.execute(auditStatement(caller, requestId, [fact]));
}
