import { allOf, ownRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import { wakeDeliveryQueues, type Endpoint } from '../../../platform/queue/delivery-queues.js';
import { ofEvent, ofReadableEvent } from './queries.js';
import type { UserScope } from '../../../platform/db/scope.js';

/** Which deliveries of a courier, tests excepted, to send again. Times are `YYYY-MM-DD HH:MM:SS` in UTC. */
export type RedeliveryFilter = {
  courierId: string;
  from: string;
  to: string | null;
  endpoint: Endpoint | null;
  type: string | null;
  status: string | null;
  packageId: string | null;
};

/** Counts the events of the matching deliveries, per URL, up to one more than `atMost` in total. */
export const countMatching = (
  ctx: UserScope,
  filter: RedeliveryFilter,
  atMost: number,
): Sql<{ endpoint: Endpoint; selected: number }> =>
  sql`select m.endpoint, count(*)::int as selected
    from (${matchingEvents(ctx, filter)} limit ${atMost}::int + 1) m group by m.endpoint`;

export type RedeliveredRow = { endpoint: Endpoint; queued: number; pending: number };

/**
 * Sends the events of the matching deliveries to open URLs again, each once: pending deliveries become due, and the other events get
 * a new delivery, in the order of the events. It takes over the synchronisation of a failed delivery. Schedules the queues.
 */
export function redeliverMatching(
  ctx: UserScope,
  filter: RedeliveryFilter,
  open: Endpoint[],
): Sql<RedeliveredRow> {
  const courier = sql`${filter.courierId}::uuid`;
  const queues = sql`select ${courier} as courier_id, endpoint from queued
    union select ${courier}, endpoint from hastened`;
  const isWaiting = sql`d.next_attempt_at > now() and (d.claimed_until is null or d.claimed_until < now())`;
  // Grouped, not joined: the planner does not know how many rows a filter finds, and a join of 10,000 with 10,000 rows was a nested loop.
  return sql`
    with matching_and_pending as (
      select m.event_id, m.endpoint, true as is_matching, m.sync_job_id, null::uuid as pending_id, null::uuid as waiting_id
      from (${matchingEvents(ctx, filter)}) m where m.endpoint = any(${open}::text[])
      union all
      select d.event_id, d.endpoint, false, null, d.id, case when ${isWaiting} then d.id end
      from webhook_deliveries d
      where ${ownRows(ctx, 'd')} and d.courier_id = ${courier} and d.status = 'pending'
        and d.endpoint = any(${open}::text[])
    ), wanted as materialized (
      select event_id, endpoint, (array_agg(sync_job_id) filter (where sync_job_id is not null))[1] as sync_job_id,
        bool_or(pending_id is not null) as is_pending,
        array_agg(waiting_id) filter (where waiting_id is not null) as waiting_ids
      from matching_and_pending group by event_id, endpoint having bool_or(is_matching)
    ), locked as materialized (
      -- Those that are being settled are skipped: they have just been sent.
      select d.id from webhook_deliveries d
      where ${ownRows(ctx, 'd')} and d.id = any(array(select unnest(w.waiting_ids) from wanted w))
        and d.status = 'pending' and ${isWaiting}
      for update skip locked
    ), hastened as (
      update webhook_deliveries d set next_attempt_at = now()
      from locked where ${ownRows(ctx, 'd')} and d.id = locked.id
      returning d.endpoint
    ), queued as (
      insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, traceparent, origin, sync_job_id)
      select ${ctx.tenantId}::uuid, new_id(), w.event_id, ${courier}, w.endpoint, ${ctx.traceparent ?? null},
        'redelivery', w.sync_job_id
      from wanted w where not w.is_pending
      order by w.event_id
      returning endpoint
    ), scheduled as (${wakeDeliveryQueues(ctx, queues)})
    select u.endpoint, (select count(*)::int from queued q where q.endpoint = u.endpoint) as queued,
      (select count(*)::int from hastened h where h.endpoint = u.endpoint) as pending, scheduled.woken
    from unnest(array['add_package', 'update_package']) as u (endpoint), scheduled`;
}

/** The events and URLs of the matching deliveries, each once. */
function matchingEvents(ctx: UserScope, filter: RedeliveryFilter): Sql {
  const { courierId, from, to, endpoint, status, type, packageId } = filter;
  const conditions = allOf(
    ownRows(ctx, 'd'),
    sql`d.courier_id = ${courierId}::uuid`,
    ofReadableEvent(ctx),
    sql`d.origin <> 'test'`,
    sql`d.created_at >= ${from}::timestamp at time zone 'UTC'`,
    to !== null && sql`d.created_at <= ${to}::timestamp at time zone 'UTC'`,
    endpoint !== null && sql`d.endpoint = ${endpoint}`,
    status !== null && sql`d.status = ${status}`,
    type !== null && ofEvent(ctx, sql`e.type = ${type}`),
    packageId !== null && ofEvent(ctx, sql`e.package_id = ${packageId}::uuid`),
  );
  return sql`select d.event_id, d.endpoint,
      (array_agg(d.sync_job_id) filter (where d.status = 'failed' and d.sync_job_id is not null))[1] as sync_job_id
    from webhook_deliveries d where ${conditions} group by d.event_id, d.endpoint`;
}
