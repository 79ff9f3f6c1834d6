import type { UserCaller } from '../../../platform/identity/callers.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { targetCourierId } from './target-courier.js';
import { eventsAfter, rangeOfEvents, type FeedRange, type FeedRow } from './feed-queries.js';

export type FeedQuery = QueryOf<'readEvents'>;
export type FeedPage = { rows: FeedRow[]; range: FeedRange; query: FeedQuery; hasMore: boolean };

/**
 * Returns a courier's events in order of sequence, without gaps: a transaction locks the courier's counter
 * until its commit, so a reader who sees a number also sees all lower ones.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function readFeed(db: Db, caller: UserCaller, query: FeedQuery): Promise<FeedPage> {
  const courierId = targetCourierId(caller, query.courier_id);
  const [ranges, found] = await snapshot(db, caller, [
    rangeOfEvents(db, caller, courierId),
    eventsAfter(db, caller, courierId, query),
  ]);
  // The two statements select exactly these columns.
  const [range] = ranges as FeedRange[];
  const rows = found as FeedRow[];
  if (!range) throw new ApiError('courier_not_found');
  return { rows: rows.slice(0, query.limit), range, query, hasMore: rows.length > query.limit };
}
