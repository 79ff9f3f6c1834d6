import { allOf, ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { WebhookDelivery } from '../../../platform/db/models/types.js';
import { sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { wakeDeliveryQueues, type Endpoint } from '../../../platform/queue/delivery-queues.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';
import { readableTypes } from '../../couriers/public.js';
import { ofReadableEvent } from './queries.js';

const WEBHOOK_DELIVERY = columns('WebhookDelivery', 'd', ['id', 'eventId', 'courierId', 'endpoint']);

/** Why a URL cannot receive deliveries. */
export type Obstacle = 'missing' | 'paused';

/** Selects both URLs with the types of their events, and with a null obstacle for one that can receive. Returns no row if the courier does not exist. */
export function selectEndpoints(
  ctx: UserScope,
  courierId: string,
): Sql<{ endpoint: Endpoint; obstacle: Obstacle | null; events: string[] }> {
  return sql`
    select u.endpoint, u.events,
      case when u.url is null or not c.is_active then 'missing' when h.paused_at is not null then 'paused' end as obstacle
    from couriers c
    cross join lateral (
      values ('add_package', c.api_url_add_package, c.add_package_events),
        ('update_package', c.api_url_update_package, c.update_package_events)
    ) as u (endpoint, url, events)
    left join webhook_endpoints h on ${ownRows(ctx, 'h')} and h.tenant_id = c.tenant_id and h.courier_id = c.id
      and h.endpoint = u.endpoint
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
}

export type SentRow = RowOf<typeof WEBHOOK_DELIVERY> & { endpoint: Endpoint };

/** Selects a delivery whose event the caller may read. */
export function findDelivery(ctx: UserScope, id: string): Sql<SentRow> {
  return sql`select ${WEBHOOK_DELIVERY} from webhook_deliveries d
    where ${allOf(ownRows(ctx, 'd'), sql`d.id = ${id}::uuid`, ofReadableEvent(ctx))}`;
}

/** Makes the event's pending deliveries to that URL due now. */
export function makeDeliveriesDue(
  ctx: UserScope,
  { eventId, endpoint }: SentRow,
): Sql<Pick<WebhookDelivery, 'id'>> {
  return sql`update webhook_deliveries d set next_attempt_at = least(d.next_attempt_at, now())
    where ${ownRows(ctx, 'd')} and d.event_id = ${eventId}::uuid and d.endpoint = ${endpoint} and d.status = 'pending'
    returning d.id`;
}

/**
 * Inserts a new delivery of the same event, or of the same test. It takes over the synchronisation of a
 * failed delivery.
 */
export function repeatDelivery(ctx: UserScope, sourceId: string, id: string): Sql {
  return sql`
    insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, traceparent, origin, sync_job_id)
    select d.tenant_id, ${id}::uuid, d.event_id, d.courier_id, d.endpoint, ${ctx.traceparent ?? null},
      case when d.origin = 'test' then 'test' else 'redelivery' end,
      case when d.status = 'failed' then d.sync_job_id end
    from webhook_deliveries d where ${ownRows(ctx, 'd')} and d.id = ${sourceId}::uuid`;
}

export function wakeDeliveryQueue(ctx: UserScope, courierId: string, endpoint: Endpoint): Sql {
  return wakeDeliveryQueues(ctx, sql`select ${courierId}::uuid as courier_id, ${endpoint} as endpoint`);
}

export type NewTest = { id: string; eventId: string; courierId: string; endpoint: Endpoint; data: object };

export function insertTest(
  { tenantId, traceparent }: UserScope,
  { id, eventId, courierId, endpoint, data }: NewTest,
): Sql {
  return sql`
    with event as (
      insert into events (tenant_id, id, courier_id, type, data)
      values (${tenantId}::uuid, ${eventId}::uuid, ${courierId}::uuid, 'webhook.test', ${JSON.stringify(data)}::jsonb)
      returning tenant_id, id, courier_id
    )
    insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, traceparent, origin)
    select tenant_id, ${id}::uuid, id, courier_id, ${endpoint}, ${traceparent ?? null}, 'test' from event`;
}

/** The types of the events of each URL. */
export type Chosen = { endpoint: Endpoint; events: string[] }[];

export type RecoveredRow = {
  endpoint: Endpoint;
  selected: number;
  queued: number;
  pending: number;
  hasMore: boolean;
};

/**
 * Makes the pending deliveries of the events since a time to open URLs due, and inserts new deliveries, in order of the events, for each
 * event since a time that the caller may read and each open URL that has its type now, if the event has no delivered or pending delivery, nor a recovery of the last hour: removing the URL fails all of them, and a loop would add a
 * row per event each time. Both together are at most `atMost`. Schedules the queues. Returns one row per URL.
 * @param since `YYYY-MM-DD HH:MM:SS` in UTC
 */
export function recoverEvents(
  ctx: UserScope,
  courierId: string,
  since: string,
  { open, chosen, atMost }: { open: Endpoint[]; chosen: Chosen; atMost: number },
): Sql<RecoveredRow> {
  const queues = sql`select ${courierId}::uuid as courier_id, endpoint from queued
    union select ${courierId}::uuid, endpoint from hastened`;
  const isWaiting = sql`d.status = 'pending' and d.next_attempt_at > now()
    and (d.claimed_until is null or d.claimed_until < now())`;
  const pairs = chosen.flatMap(({ endpoint, events }) => events.map((type) => ({ type, endpoint })));
  // Earlier deliveries are collected before the insertion; a lookup per row would scan the rows just
  // inserted. They are grouped, not joined: before the first analyze, a join of 100,000 with 100,000 rows was
  // a nested loop. No delivery is older than its event.
  return sql`
    with events_and_deliveries as (
      select e.id, e.sequence, u.endpoint, null::boolean as is_settled, null::uuid as sync_job_id, null::uuid as waiting_id
      from events e
      join unnest(${pairs.map(({ type }) => type)}::text[], ${pairs.map(({ endpoint }) => endpoint)}::text[]) as u (type, endpoint)
        on u.type = e.type
      where ${allOf(
        ownRows(ctx, 'e'),
        sql`e.courier_id = ${courierId}::uuid and e.sequence > 0 and e.occurred_at >= ${since}::timestamp at time zone 'UTC'`,
        readableTypes(ctx, 'e'),
      )}
      union all
      select d.event_id, null, d.endpoint,
        d.status <> 'failed' or d.origin = 'recovery' and d.created_at > now() - interval '1 hour', d.sync_job_id,
        case when ${isWaiting} then d.id end
      from webhook_deliveries d
      where ${ownRows(ctx, 'd')} and d.courier_id = ${courierId}::uuid
        and d.created_at >= ${since}::timestamp at time zone 'UTC'
    ), selected as materialized (
      select id, endpoint, max(sequence) as sequence, bool_or(is_settled) as is_settled,
        (array_agg(sync_job_id) filter (where sync_job_id is not null))[1] as sync_job_id,
        array_agg(waiting_id) filter (where waiting_id is not null) as waiting_ids
      from events_and_deliveries group by id, endpoint having max(sequence) > 0
    ), waiting as materialized (
      select unnest(waiting_ids) as id, sequence from selected
      where endpoint = any(${open}::text[]) and waiting_ids is not null
      order by sequence limit ${atMost}::int + 1
    ), locked as materialized (
      -- Those that are being settled are skipped: they have just been sent.
      select d.id from webhook_deliveries d
      where ${ownRows(ctx, 'd')} and d.id = any(array(select id from waiting order by sequence limit ${atMost}::int))
        and ${isWaiting}
      for update skip locked
    ), hastened as (
      update webhook_deliveries d set next_attempt_at = now()
      from locked where ${ownRows(ctx, 'd')} and d.id = locked.id
      returning d.endpoint
    ), missed as materialized (
      select id, sequence, endpoint, sync_job_id from selected
      where endpoint = any(${open}::text[]) and is_settled is not true
      order by sequence limit greatest(${atMost}::int - (select count(*) from waiting), 0) + 1
    ), queued as (
      insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, traceparent, origin, sync_job_id)
      select ${ctx.tenantId}::uuid, new_id(), m.id, ${courierId}::uuid, m.endpoint, ${ctx.traceparent ?? null},
        'recovery', m.sync_job_id
      from (
        select * from missed order by sequence limit greatest(${atMost}::int - (select count(*) from waiting), 0)
      ) m
      order by m.sequence
      returning endpoint
    ), scheduled as (${wakeDeliveryQueues(ctx, queues)})
    select u.endpoint, (select count(*)::int from selected s where s.endpoint = u.endpoint) as selected,
      (select count(*)::int from queued q where q.endpoint = u.endpoint) as queued,
      (select count(*)::int from hastened h where h.endpoint = u.endpoint) as pending,
      (select count(*) from waiting) + (select count(*) from missed) > ${atMost}::int as "hasMore", scheduled.woken
    from unnest(array['add_package', 'update_package']) as u (endpoint), scheduled`;
}
