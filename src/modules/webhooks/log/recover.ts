import { audit } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { assertQuota, quotaOf, remainingQuota, takeQuota } from '../../../platform/db/quotas.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { targetCourierId } from '../events/target-courier.js';
import { lockEndpoints } from './endpoints.js';
import { recoverEvents, type Obstacle } from './resend-queries.js';
import { isCalendarDate } from '../../../platform/contract/validator.js';

type RecoverInput = Extract<BodyOf<'manageWebhookDeliveries'>, { action: 'recover_since' }>;

export type Recovered = { selected: number; queued: number; pending: number; skipped: Obstacle | null };
export type Recovery = { since: string; endpoints: Record<Endpoint, Recovered>; hasMore: boolean };

// Source: the contract's limits.
const MAX_RECOVERED = 100_000;
const RECOVERED = quotaOf('recovered_webhooks');

/**
 * Sends the events missed since a time again, and what is pending now instead of at its next attempt, at most 100,000 and at most what is left of the courier's quota.
 * @throws ApiError validation_failed, courier_not_found, quota_exceeded
 */
export async function recoverSince(ctx: UserContext, input: RecoverInput): Promise<Recovery> {
  const { since } = input;
  if (!isDateTime(since)) throw invalidFieldError('since', 'invalid_date_time');
  const courierId = targetCourierId(ctx.caller, input.courier_id);
  return ctx.write(async (tx) => {
    const obstacles = await lockEndpoints(tx, courierId);
    await assertQuota(tx, RECOVERED, courierId);
    // Exact, because the courier is locked.
    const atMost = Math.min(MAX_RECOVERED, await remainingQuota(tx, RECOVERED, courierId));
    const open = [...obstacles].filter(([, obstacle]) => obstacle === null).map(([endpoint]) => endpoint);
    const rows = await tx.query(recoverEvents(ctx, courierId, since, { open, atMost }));
    const of = (endpoint: Endpoint): Recovered => {
      const { selected = 0, queued = 0, pending = 0 } = rows.find((row) => row.endpoint === endpoint) ?? {};
      return { selected, queued, pending, skipped: obstacles.get(endpoint) ?? null };
    };
    const endpoints = { add_package: of('add_package'), update_package: of('update_package') };
    const after = { since, endpoints };
    tx.later(audit(tx, { action: 'webhook.recovered', entity: 'courier', entityId: courierId, after }));
    const sent = Object.values(endpoints).reduce((sum, { queued, pending }) => sum + queued + pending, 0);
    await takeQuota(tx, RECOVERED, courierId, sent);
    return { since, endpoints, hasMore: rows[0]?.hasMore ?? false };
  });
}

/** Returns whether the text is an existing date and time in the format `YYYY-MM-DD HH:MM:SS`. */
export const isDateTime = (text: string): boolean =>
  isCalendarDate(text.slice(0, 10)) && /^(?:[01]\d|2[0-3])(?::[0-5]\d){2}$/.test(text.slice(11));
