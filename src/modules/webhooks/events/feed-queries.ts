import type { QueryOf } from '../../../platform/contract/types.js';
import { allOf, ownRows, tenantRows } from '../../../platform/db/filters.js';
import { isCommonLimit, limitPast } from '../../../platform/db/pages.js';
import { once, onceIf, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { readableTypes } from '../../couriers/public.js';
import type { FeedRow } from './event-view.js';

/** Sequences are text. */
export type FeedRange = { firstSequence: string | null; lastSequence: string };

/**
 * Selects the first and last sequence of the courier's events. Returns no row if the courier does not exist.
 *
 * All types share the numbers. The range of a caller that may not read all types ends with its own last event, and has no first one
 * while none of its events is stored. If its last one is deleted, the range ends before the oldest event of any type, so that no
 * number that the caller has read is ahead.
 */
export function rangeOfEvents(ctx: UserScope, courierId: string): Sql<FeedRange> {
  const readable = readableTypes(ctx, 'e');
  const oldest = edgeOf(ctx, undefined, sql`asc`);
  const range = readable
    ? sql`case when newest is not null then oldest end as first, coalesce(newest, oldest - 1, k.last_sequence, 0) as last
      from (select ${oldest} as oldest, ${edgeOf(ctx, readable, sql`desc`)} as newest) stored`
    : sql`${oldest} as first, coalesce(k.last_sequence, 0) as last`;
  return once`
    select r.first::text as "firstSequence", r.last::text as "lastSequence"
    from couriers c
    left join event_counters k on ${ownRows(ctx, 'k')} and k.tenant_id = c.tenant_id and k.courier_id = c.id
    cross join lateral (select ${range}) r
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
}

/** The lowest or the highest sequence of the stored events of the courier `c` that fulfil a condition. */
const edgeOf = (ctx: UserScope, condition: Sql | undefined, direction: Sql): Sql =>
  sql`(select e.sequence from events e
    where ${allOf(ownRows(ctx, 'e'), sql`e.tenant_id = c.tenant_id and e.courier_id = c.id and e.sequence > 0`, condition)}
    order by e.sequence ${direction} limit 1)`;

/** Selects one event more than the limit to detect a next page, of the types that the caller may read. Excludes tests, which have no sequence. */
export function eventsAfter(
  ctx: UserScope,
  courierId: string,
  { after, limit }: Pick<QueryOf<'listEvents'>, 'after' | 'limit'>,
): Sql<FeedRow> {
  return onceIf(isCommonLimit(limit))`
    select e.id, e.sequence::text as sequence, e.type, e.data, e.occurred_at as "occurredAt" from events e
    where ${allOf(ownRows(ctx, 'e'), sql`e.courier_id = ${courierId}::uuid and e.sequence > ${after}::bigint`, readableTypes(ctx, 'e'))}
    order by e.sequence ${limitPast(limit)}`;
}
