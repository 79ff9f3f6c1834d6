import type { UserContext } from '../../../platform/context/request-context.js';
import { ownRows } from '../../../platform/db/filters.js';
import { join, sql, type Sql } from '../../../platform/db/statements.js';
import { wakeDeliveryQueues, type Endpoint } from '../../../platform/queue/delivery-queues.js';

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
  ctx: UserContext,
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
  ctx: UserContext,
  filter: RedeliveryFilter,
  open: Endpoint[],
): Sql<RedeliveredRow> {
  const courier = sql`${filter.courierId}::uuid`;
  const queues = sql`select ${courier} as courier_id, endpoint from queued
    union select ${courier}, endpoint from hastened`;
  return sql`
    with wanted as materialized (
      select m.* from (${matchingEvents(ctx, filter)}) m where m.endpoint = any(${open}::text[])
    ), pending as materialized (
      select d.id, d.event_id, d.endpoint from webhook_deliveries d
      where ${ownRows(ctx, 'd')} and d.courier_id = ${courier} and d.status = 'pending'
        and d.event_id in (select event_id from wanted)
    ), locked as materialized (
      -- Those that are being settled are skipped: they have just been sent.
      select d.id from webhook_deliveries d
      where ${ownRows(ctx, 'd')} and d.id = any(array(
          select p.id from pending p join wanted w using (event_id, endpoint)))
        and d.status = 'pending' and d.next_attempt_at > now()
        and (d.claimed_until is null or d.claimed_until < now())
      for update skip locked
    ), hastened as (
      update webhook_deliveries d set next_attempt_at = now()
      from locked where ${ownRows(ctx, 'd')} and d.id = locked.id
      returning d.endpoint
    ), queued as (
      insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, traceparent, origin, sync_job_id)
      select ${ctx.tenantId}::uuid, new_id(), w.event_id, ${courier}, w.endpoint, ${ctx.traceparent ?? null},
        'redelivery', w.sync_job_id
      from wanted w
      where not exists (select from pending p where p.event_id = w.event_id and p.endpoint = w.endpoint)
      order by w.event_id
      returning endpoint
    ), scheduled as (${wakeDeliveryQueues(ctx, queues)})
    select u.endpoint, (select count(*)::int from queued q where q.endpoint = u.endpoint) as queued,
      (select count(*)::int from hastened h where h.endpoint = u.endpoint) as pending, scheduled.woken
    from unnest(array['add_package', 'update_package']) as u (endpoint), scheduled`;
}

/** The events and URLs of the matching deliveries, each once. */
function matchingEvents(ctx: UserContext, filter: RedeliveryFilter): Sql {
  const conditions = [
    ownRows(ctx, 'd'),
    sql`d.courier_id = ${filter.courierId}::uuid`,
    sql`d.origin <> 'test'`,
    sql`d.created_at >= ${filter.from}::timestamp at time zone 'UTC'`,
  ];
  if (filter.to) conditions.push(sql`d.created_at <= ${filter.to}::timestamp at time zone 'UTC'`);
  if (filter.endpoint) conditions.push(sql`d.endpoint = ${filter.endpoint}`);
  if (filter.status) conditions.push(sql`d.status = ${filter.status}`);
  if (filter.type) conditions.push(ofEvent(ctx, sql`e.type = ${filter.type}`));
  if (filter.packageId) conditions.push(ofEvent(ctx, sql`e.package_id = ${filter.packageId}::uuid`));
  return sql`select d.event_id, d.endpoint,
      (array_agg(d.sync_job_id) filter (where d.status = 'failed' and d.sync_job_id is not null))[1] as sync_job_id
    from webhook_deliveries d where ${join(conditions, ' and ')} group by d.event_id, d.endpoint`;
}

const ofEvent = (ctx: UserContext, condition: Sql): Sql =>
  sql`exists (select from events e where ${ownRows(ctx, 'e')} and e.tenant_id = d.tenant_id and e.id = d.event_id
    and ${condition})`;
