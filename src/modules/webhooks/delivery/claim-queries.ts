import type { components } from '../../../../generated/contract.js';
import { columns } from '../../../platform/db/columns.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { WebhookDelivery } from '../../../platform/db/models/types.js';
import { isSandbox } from '../../../platform/db/sandbox.js';
import { once, raw, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { wakeDeliveryQueuesWhenDue, type DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import type { EventRow } from '../events/event-view.js';
import { usedBudget, type ExchangeBudget } from '../exchanges/exchange-queries.js';

/** The lifetime of a claim: the timeout of an attempt, and time to record its result. */
const CLAIM_SECONDS = 30;

const COURIER = columns('Courier', 'c', [
  'apiTokenCipher',
  'webhookSecretCipher',
  'webhookPreviousSecretCipher',
  'webhookSecretRotatedAt',
  'isActive',
]);

/** The URL of a delivery queue, and its signing secrets. */
export type TargetRow = RowOf<typeof COURIER> & {
  url: string | null;
  format: components['schemas']['WebhookFormat'];
  isPaused: boolean;
  isOfSandbox: boolean;
  /** The database's clock. */
  now: Date;
} & ExchangeBudget;

export function selectTarget(ctx: SystemScope, queue: DeliveryQueue): Sql<TargetRow> {
  return once`
    select c.${raw(`api_url_${queue.endpoint}`)} as url, c.${raw(`${queue.endpoint}_format`)} as format,
      ${COURIER},
      coalesce(e.paused_at is not null, false) as "isPaused", clock_timestamp() as now,
      ${isSandbox(ctx)} as "isOfSandbox", ${usedBudget(ctx, queue)}
    from couriers c
    left join webhook_endpoints e on e.tenant_id = c.tenant_id and e.courier_id = c.id and e.endpoint = ${queue.endpoint}
      and ${tenantRows(ctx, 'e')}
    where ${tenantRows(ctx, 'c')} and c.id = ${queue.courierId}::uuid`;
}

/** A delivery that this worker has claimed, with its event. */
export type ClaimedRow = EventRow &
  Pick<WebhookDelivery, 'origin' | 'attemptCount' | 'createdAt' | 'traceparent'> & {
    deliveryId: string;
    /** The package whose synchronisation the delivery belongs to. Null for none. */
    syncedPackageId: string | null;
  };

/**
 * Claims the due deliveries of the queue, oldest first. A paused queue returns only tests, a queue without a
 * URL nothing.
 */
export function claimDue(ctx: SystemScope, queue: DeliveryQueue, atMost: number): Sql<ClaimedRow> {
  return once`
    with due as (
      select d.id from webhook_deliveries d
      join couriers c on ${tenantRows(ctx, 'c')} and c.id = d.courier_id and c.is_active
        and c.${raw(`api_url_${queue.endpoint}`)} is not null
      where ${inQueue(ctx, queue)} and d.status = 'pending' and d.next_attempt_at <= now()
        and (d.claimed_until is null or d.claimed_until < now())
        and (d.origin = 'test' or not exists (
          select from webhook_endpoints e where e.tenant_id = d.tenant_id and e.courier_id = d.courier_id
            and e.endpoint = d.endpoint and e.paused_at is not null))
      order by d.next_attempt_at, d.id limit ${atMost}::int
      for update of d skip locked
    ), claimed as (
      update webhook_deliveries d set claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS}::int)
      from due where ${tenantRows(ctx, 'd')} and d.id = due.id
      returning d.id, d.event_id, d.origin, d.attempt_count, d.created_at, d.traceparent, d.sync_job_id
    )
    select claimed.id as "deliveryId", claimed.origin, claimed.attempt_count::int as "attemptCount",
      claimed.created_at as "createdAt", claimed.traceparent,
      case when claimed.sync_job_id is not null then ev.package_id end as "syncedPackageId",
      ev.id, ev.type, ev.sequence::text as sequence, ev.data, ev.occurred_at as "occurredAt"
    from claimed join events ev on ${tenantRows(ctx, 'ev')} and ev.id = claimed.event_id
    order by ev.sequence, ev.id`;
}

/**
 * Fails the pending deliveries of a queue without a URL, of an inactive courier, or of a paused URL; the
 * latter except tests. Returns how many.
 */
export function failPendingDeliveries(
  ctx: SystemScope,
  queue: DeliveryQueue,
  { exceptTests }: { exceptTests: boolean },
): Sql<{ count: number }> {
  return once`
    with ended as (
      update webhook_deliveries d set status = 'failed', next_attempt_at = null, claimed_until = null, settled_at = now()
      where ${inQueue(ctx, queue)} and d.status = 'pending'
        and (d.claimed_until is null or d.claimed_until < now()) and not (${exceptTests}::boolean and d.origin = 'test')
      returning d.sync_job_id
    ), synchronised as (
      update package_syncs s set status = 'failed', settled_at = now()
      from ended where ${tenantRows(ctx, 's')} and s.job_id = ended.sync_job_id and s.status = 'sending'
    )
    select count(*)::int as count from ended`;
}

/**
 * Schedules the queue for the time of its next due delivery, if there is one.
 * @param pauseMs the minimum delay
 */
export function wakeWhenDue(ctx: SystemScope, queue: DeliveryQueue, pauseMs: number): Sql {
  const queuedSync =
    queue.endpoint === 'update_package'
      ? sql`(select now() from package_syncs s where ${tenantRows(ctx, 's')}
          and s.courier_id = ${queue.courierId}::uuid and s.status = 'queued' limit 1)`
      : sql`null::timestamptz`;
  return wakeDeliveryQueuesWhenDue(
    queue,
    // greatest() ignores null: without the condition, an empty queue would be scheduled forever.
    sql`select ${queue.courierId}::uuid as courier_id, ${queue.endpoint} as endpoint,
      greatest(now() + make_interval(secs => ${pauseMs}::int / 1000.0), next.due) as due
      from (select least(${queuedSync},
        (select min(greatest(d.next_attempt_at, coalesce(d.claimed_until, d.next_attempt_at)))
         from webhook_deliveries d where ${inQueue(ctx, queue)} and d.status = 'pending')) as due) as next
      where next.due is not null`,
  );
}

const inQueue = (ctx: SystemScope, queue: DeliveryQueue): Sql =>
  sql`${tenantRows(ctx, 'd')} and d.courier_id = ${queue.courierId}::uuid and d.endpoint = ${queue.endpoint}`;
