import type { QueryOf } from '../../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { isCommonLimit, limitPast } from '../../../platform/db/pages.js';
import { once, onceIf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { FeedRow } from './event-view.js';

/** Sequences are text. */
export type FeedRange = { firstSequence: string | null; lastSequence: string };

/**
 * Selects the first and last sequence of the courier's events. Returns no row if the courier does not exist.
 */
export function rangeOfEvents(ctx: UserScope, courierId: string): Sql<FeedRange> {
  return once`
    select coalesce(k.last_sequence, 0)::text as "lastSequence", (
        select e.sequence::text from events e
        where ${ownRows(ctx, 'e')} and e.tenant_id = c.tenant_id and e.courier_id = c.id and e.sequence > 0
        order by e.sequence limit 1
      ) as "firstSequence"
    from couriers c
    left join event_counters k on ${ownRows(ctx, 'k')} and k.tenant_id = c.tenant_id and k.courier_id = c.id
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
}

/** Selects one event more than the limit to detect a next page. Excludes tests, which have no sequence. */
export function eventsAfter(
  ctx: UserScope,
  courierId: string,
  { after, limit }: Pick<QueryOf<'listEvents'>, 'after' | 'limit'>,
): Sql<FeedRow> {
  return onceIf(isCommonLimit(limit))`
    select e.id, e.sequence::text as sequence, e.type, e.data, e.occurred_at as "occurredAt" from events e
    where ${ownRows(ctx, 'e')} and e.courier_id = ${courierId}::uuid and e.sequence > ${after}::bigint
    order by e.sequence ${limitPast(limit)}`;
}
