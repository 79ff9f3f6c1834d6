import type { UserContext } from '../../../platform/context/request-context.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { pageOfDeliveries, type DeliveryQuery, type DeliveryRow } from './queries.js';

export type DeliveryPage = { rows: DeliveryRow[]; limit: number; nextBefore: string | null };

/**
 * Returns one page of the delivery log: all couriers for staff, its own deliveries for a courier.
 * @throws ApiError validation_failed if `to` is before `from`
 */
export async function listDeliveries(ctx: UserContext, query: DeliveryQuery): Promise<DeliveryPage> {
  const { from, to, limit } = query;
  if (from && to && to < from) throw invalidFieldError('to', 'before', { other: 'from' });
  const [rows] = await ctx.read([pageOfDeliveries(ctx, query)]);
  const page = rows.slice(0, limit);
  return { rows: page, limit, nextBefore: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
