import { readPageBefore, type PageBefore } from '../../../platform/context/read-page.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { pageOfDeliveries, type DeliveryQuery, type DeliveryRow } from './queries.js';

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
  return readPageBefore(ctx, pageOfDeliveries(ctx, query), limit);
}
