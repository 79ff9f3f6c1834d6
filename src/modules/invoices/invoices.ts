import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { MAX_PACKAGES } from './public.js';
import { previewStatements, type BilledRow, type FiguresRow, type PartiesRow } from './queries.js';

export type Preview = { parties: PartiesRow; figures: FiguresRow; billed: BilledRow[] };

/**
 * Returns what a courier owes for the packages received in a period. Stores nothing.
 * @throws ApiError validation_failed, courier_not_found, bill_too_large; record_forbidden if a courier requests another
 * courier's, existing or not, so that it learns nothing about others
 */
export async function previewInvoice(
  ctx: UserContext,
  request: BodyOf<'previewCourierInvoice'>,
): Promise<Preview> {
  const { courier_id: courierId, start_date: startDate, end_date: endDate } = request;
  if (startDate > endDate) throw invalidFieldError('end_date', 'before', { other: 'start_date' });
  if (ctx.caller.courierId !== null && ctx.caller.courierId !== courierId) {
    throw new ApiError('record_forbidden', { variant: 'invoice' });
  }
  const period = { courierId, startDate, endDate };
  const [[parties], [figures], billed] = await ctx.read(previewStatements(ctx, period), { from: 'replica' });
  if (!parties || !figures) throw new ApiError('courier_not_found');
  const { totalPackages: count } = figures;
  if (count > MAX_PACKAGES)
    throw new ApiError('bill_too_large', { variant: 'preview', args: { count, limit: MAX_PACKAGES } });
  return { parties, figures, billed };
}
