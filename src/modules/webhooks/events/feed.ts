import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { targetCourierId } from '../../couriers/public.js';
import type { FeedRow } from './event-view.js';
import { eventsAfter, rangeOfEvents, type FeedRange } from './feed-queries.js';

export type FeedQuery = QueryOf<'listEvents'>;
export type FeedPage = { rows: FeedRow[]; range: FeedRange; query: FeedQuery; hasMore: boolean };

/**
 * Returns a courier's events in order of sequence, without gaps: a transaction locks the courier's counter
 * until its commit, so a reader who sees a number also sees all lower ones.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function readFeed(ctx: UserContext, query: FeedQuery): Promise<FeedPage> {
  const courierId = targetCourierId(ctx.caller, query.courier_id);
  const [[range], rows] = await ctx.read([rangeOfEvents(ctx, courierId), eventsAfter(ctx, courierId, query)]);
  if (!range) throw new ApiError('courier_not_found');
  return { rows: rows.slice(0, query.limit), range, query, hasMore: rows.length > query.limit };
}
