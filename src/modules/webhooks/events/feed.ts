import type { UserCaller } from '../../../platform/identity/callers.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { courierNamed } from './named-courier.js';
import { eventsAfter, rangeOfEvents, type FeedRange, type FeedRow } from './feed-queries.js';

export type FeedQuery = QueryOf<'readEvents'>;
export type FeedPage = { rows: FeedRow[]; range: FeedRange; query: FeedQuery; hasMore: boolean };

/**
 * A courier's events in their order. Without a gap: the counter of the courier is held from an event's writing to its
 * commit, so that whoever sees a number sees all that are below it.
 *
 * @throws ApiError validation_failed, courier_not_found
 */
export async function readFeed(db: Db, caller: UserCaller, query: FeedQuery): Promise<FeedPage> {
  const courierId = courierNamed(caller, query.courier_id);
  const [ranges, found] = await snapshot(db, caller, [
    rangeOfEvents(db, caller, courierId),
    eventsAfter(db, caller, courierId, query),
  ]);
  // as: the shapes that the two statements select
  const [range] = ranges as FeedRange[];
  const rows = found as FeedRow[];
  if (!range) throw new ApiError('courier_not_found');
  return { rows: rows.slice(0, query.limit), range, query, hasMore: rows.length > query.limit };
}
