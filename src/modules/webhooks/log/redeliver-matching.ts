import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { assertQuota } from '../../../platform/limits/stored/quotas.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { targetCourierId } from '../../couriers/public.js';
import { lockEndpoints } from './endpoints.js';
import { isDateTime, MAX_RECOVERED, openOf, RECOVERED, settleRecovery, type Recovery } from './recovery.js';
import { countMatching, redeliverMatching, type RedeliveryFilter } from './redeliver-queries.js';

type Input = Extract<BodyOf<'manageWebhookDeliveries'>, { action: 'redeliver_matching' }>;

/**
 * Sends the events of the matching deliveries again, all or none.
 * @throws ApiError validation_failed, courier_not_found, quota_exceeded
 */
export async function redeliverMatchingDeliveries(ctx: UserContext, input: Input): Promise<Recovery> {
  const filter = toFilter(input, targetCourierId(ctx.caller, input.courier_id));
  const { courierId } = filter;
  return ctx.write(async (tx) => {
    const obstacles = await lockEndpoints(tx, courierId);
    const counted = await tx.query(countMatching(ctx, filter, MAX_RECOVERED));
    const selectedOf = (name: Endpoint) => counted.find(({ endpoint }) => endpoint === name)?.selected ?? 0;
    const total = counted.reduce((sum, { selected }) => sum + selected, 0);
    if (total > MAX_RECOVERED)
      throw new ApiError('validation_failed', {
        variant: 'too_many_webhooks',
        args: { limit: MAX_RECOVERED },
      });
    const open = openOf(obstacles);
    // Checked before the write, because rolled-back rows would still take space in the table.
    const wanted = open.reduce((sum, endpoint) => sum + selectedOf(endpoint), 0);
    await assertQuota(tx, RECOVERED, courierId, Math.max(wanted, 1));
    const rows = await tx.query(redeliverMatching(ctx, filter, open));
    const endpoints = await settleRecovery(tx, obstacles, {
      action: 'webhook.redelivered',
      courierId,
      request: filter,
      countsOf(endpoint) {
        const { queued = 0, pending = 0 } = rows.find((row) => row.endpoint === endpoint) ?? {};
        return { selected: selectedOf(endpoint), queued, pending };
      },
    });
    return { since: filter.from, endpoints, hasMore: false };
  });
}

/** @throws ApiError validation_failed */
function toFilter(input: Input, courierId: string): RedeliveryFilter {
  const { from, to = null } = input;
  if (!isDateTime(from)) throw invalidFieldError('from', 'invalid_date_time');
  if (to !== null && !isDateTime(to)) throw invalidFieldError('to', 'invalid_date_time');
  if (to !== null && to < from) throw invalidFieldError('to', 'before', { other: 'from' });
  const { endpoint = null, type = null, status = null, package_id: packageId = null } = input;
  return { courierId, from, to, endpoint, type, status, packageId };
}
