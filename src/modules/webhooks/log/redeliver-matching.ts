import { audit } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { assertQuota, quotaOf, takeQuota } from '../../../platform/db/quotas.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { targetCourierId } from '../events/target-courier.js';
import { isDateTime, type Recovered, type Recovery } from './recover.js';
import { lockEndpoints } from './endpoints.js';
import { countMatching, redeliverMatching, type RedeliveryFilter } from './redeliver-queries.js';

type Input = Extract<BodyOf<'manageWebhookDeliveries'>, { action: 'redeliver_matching' }>;

const MAX_REDELIVERED = 100_000;
const RECOVERED = quotaOf('recovered_webhooks');

/**
 * Sends the events of the matching deliveries again, all or none.
 * @throws ApiError validation_failed, courier_not_found, quota_exceeded
 */
export async function redeliverMatchingDeliveries(ctx: UserContext, input: Input): Promise<Recovery> {
  const filter = toFilter(input, targetCourierId(ctx.caller, input.courier_id));
  const { courierId } = filter;
  return ctx.write(async (tx) => {
    const obstacles = await lockEndpoints(tx, courierId);
    const counted = await tx.query(countMatching(ctx, filter, MAX_REDELIVERED));
    const selectedOf = (name: Endpoint) => counted.find(({ endpoint }) => endpoint === name)?.selected ?? 0;
    const total = counted.reduce((sum, { selected }) => sum + selected, 0);
    if (total > MAX_REDELIVERED)
      throw new ApiError('validation_failed', {
        variant: 'too_many_webhooks',
        args: { limit: MAX_REDELIVERED },
      });
    const open = [...obstacles].filter(([, obstacle]) => obstacle === null).map(([endpoint]) => endpoint);
    // Checked before the write, because rolled-back rows would still take space in the table.
    const wanted = open.reduce((sum, endpoint) => sum + selectedOf(endpoint), 0);
    await assertQuota(tx, RECOVERED, courierId, Math.max(wanted, 1));
    const rows = await tx.query(redeliverMatching(ctx, filter, open));
    const of = (endpoint: Endpoint): Recovered => {
      const { queued = 0, pending = 0 } = rows.find((row) => row.endpoint === endpoint) ?? {};
      return { selected: selectedOf(endpoint), queued, pending, skipped: obstacles.get(endpoint) ?? null };
    };
    const endpoints = { add_package: of('add_package'), update_package: of('update_package') };
    tx.later(
      audit(tx, {
        action: 'webhook.redelivered',
        entity: 'courier',
        entityId: courierId,
        after: { ...filter, endpoints },
      }),
    );
    const sent = Object.values(endpoints).reduce((sum, { queued, pending }) => sum + queued + pending, 0);
    await takeQuota(tx, RECOVERED, courierId, sent);
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
