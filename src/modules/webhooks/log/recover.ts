import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { assertQuota, remainingQuota } from '../../../platform/limits/stored/quotas.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { targetCourierId } from '../../couriers/public.js';
import { lockEndpoints } from './endpoints.js';
import { isDateTime, MAX_RECOVERED, openOf, RECOVERED, settleRecovery, type Recovery } from './recovery.js';
import { recoverEvents } from './resend-queries.js';

type RecoverInput = Extract<BodyOf<'manageWebhookDeliveries'>, { action: 'recover_since' }>;

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
    const open = openOf(obstacles);
    const rows = await tx.query(recoverEvents(ctx, courierId, since, { open, atMost }));
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
