import type { SystemCaller } from '../../../platform/identity/callers.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { raw, sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import type { AttemptOutcome } from '../../../platform/metrics/outbound.js';
import { wakeDeliveryQueuesWhenDue, type DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { EventRow } from '../events/event-view.js';

/** The lifetime of a claim: the timeout of an attempt, and time to record its result. */
const CLAIM_SECONDS = 30;

export type DeliveryQueueScope = { db: Db; caller: SystemCaller; queue: DeliveryQueue };

/** The URL of a delivery queue, and its signing secrets. */
export type TargetRow = {
  url: string | null;
  api_token_cipher: string | null;
  webhook_secret_cipher: string | null;
  webhook_previous_secret_cipher: string | null;
  webhook_secret_rotated_at: Date | null;
  is_active: boolean;
  is_paused: boolean;
  /** The database's clock. */
  now: Date;
};

export function selectTarget({ db, caller, queue }: DeliveryQueueScope): Sql {
  return sql`
    select c.${raw(`api_url_${queue.endpoint}`)} as url, c.api_token_cipher, c.webhook_secret_cipher,
      c.webhook_previous_secret_cipher, c.webhook_secret_rotated_at, c.is_active, coalesce(e.paused_at is not null, false) as is_paused, clock_timestamp() as now
    from couriers c
    left join webhook_endpoints e on e.tenant_id = c.tenant_id and e.courier_id = c.id and e.endpoint = ${queue.endpoint}
      and ${tenantRows(db, caller, 'e')}
    where ${tenantRows(db, caller, 'c')} and c.id = ${queue.courierId}::uuid`;
}

/** A delivery that this worker has claimed, with its event. */
export type ClaimedRow = EventRow & { delivery_id: string; origin: string; attempt_count: number };

/**
 * Claims the due deliveries of the queue, oldest first. A paused queue returns only tests, a queue without a
 * URL nothing.
 */
export function claimDue({ db, caller, queue }: DeliveryQueueScope, atMost: number): Sql {
  return sql`
    with due as (
      select d.id from webhook_deliveries d
      join couriers c on ${tenantRows(db, caller, 'c')} and c.id = d.courier_id and c.is_active
        and c.${raw(`api_url_${queue.endpoint}`)} is not null
      where ${inQueue({ db, caller, queue })} and d.status = 'pending' and d.next_attempt_at <= now()
        and (d.claimed_until is null or d.claimed_until < now())
        and (d.origin = 'test' or not exists (
          select from webhook_endpoints e where e.tenant_id = d.tenant_id and e.courier_id = d.courier_id
            and e.endpoint = d.endpoint and e.paused_at is not null))
      order by d.next_attempt_at, d.id limit ${atMost}::int
      for update of d skip locked
    ), claimed as (
      update webhook_deliveries d set claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS}::int)
      from due where ${tenantRows(db, caller, 'd')} and d.id = due.id
      returning d.id, d.event_id, d.origin, d.attempt_count
    )
    select claimed.id as delivery_id, claimed.origin, claimed.attempt_count::int as attempt_count,
      ev.id, ev.type, ev.sequence::text as sequence, ev.data, ev.occurred_at
    from claimed join events ev on ${tenantRows(db, caller, 'ev')} and ev.id = claimed.event_id
    order by ev.sequence, ev.id`;
}

/**
 * Fails the pending deliveries of a queue without a URL, of an inactive courier, or of a paused URL; the
 * latter except tests.
 */
export function failPendingDeliveries(
  { db, caller, queue }: DeliveryQueueScope,
  { exceptTests }: { exceptTests: boolean },
): Sql {
  return sql`
    with ended as (
      update webhook_deliveries d set status = 'failed', next_attempt_at = null, claimed_until = null, settled_at = now()
      where ${inQueue({ db, caller, queue })} and d.status = 'pending'
        and (d.claimed_until is null or d.claimed_until < now()) and not (${exceptTests}::boolean and d.origin = 'test')
      returning d.sync_job_id
    )
    update package_syncs s set status = 'failed', settled_at = now()
    from ended where ${tenantRows(db, caller, 's')} and s.job_id = ended.sync_job_id and s.status = 'sending'`;
}

/** The result of one attempt. */
export type AttemptResult = {
  delivery_id: string;
  number: number;
  started_at: string;
  duration_ms: number;
  outcome: AttemptOutcome;
  http_status: number | null;
  response_start: string | null;
  error: string | null;
  /** The delay of the next attempt; null for none. */
  retry_after_s: number | null;
};

const resultsTable = (
  results: AttemptResult[],
) => sql`jsonb_to_recordset(${JSON.stringify(results)}::jsonb) as result
  (delivery_id uuid, number smallint, started_at timestamptz, duration_ms integer, outcome text, http_status smallint,
   response_start text, error text, retry_after_s integer)`;

/** Inserts the attempts, one row each. */
export function insertAttempts({ caller, queue }: DeliveryQueueScope, results: AttemptResult[]): Sql {
  return sql`
    insert into webhook_attempts
      (tenant_id, delivery_id, number, courier_id, started_at, duration_ms, outcome, http_status, response_start, error)
    select ${caller.tenantId}::uuid, delivery_id, number, ${queue.courierId}::uuid, started_at, duration_ms, outcome,
      http_status, response_start, error
    from ${resultsTable(results)}
    on conflict (tenant_id, delivery_id, number) do nothing`;
}

/** A delivery that was not sent because of the outbound rate limit of its URL. */
export type Postponed = { delivery_id: string; after_ms: number };

/** Releases the claims and postpones the deliveries. No attempt is counted. */
export function postponeDeliveries({ db, caller }: DeliveryQueueScope, postponed: Postponed[]): Sql {
  return sql`
    update webhook_deliveries d
    set claimed_until = null, next_attempt_at = now() + make_interval(secs => later.after_ms / 1000.0)
    from jsonb_to_recordset(${JSON.stringify(postponed)}::jsonb) as later (delivery_id uuid, after_ms integer)
    where ${tenantRows(db, caller, 'd')} and d.id = later.delivery_id and d.status = 'pending'`;
}

/** Settles the deliveries or schedules their retries, and updates the synchronisations they belong to. */
export function settleDeliveries({ db, caller }: DeliveryQueueScope, results: AttemptResult[]): Sql {
  return sql`
    with settled as (
      update webhook_deliveries d
      set attempt_count = result.number, last_http_status = result.http_status, claimed_until = null,
        status = case when result.outcome = 'delivered' then 'delivered'
          when result.retry_after_s is null then 'failed' else 'pending' end,
        next_attempt_at = case when result.outcome <> 'delivered' then now() + make_interval(secs => result.retry_after_s) end,
        settled_at = case when result.outcome = 'delivered' or result.retry_after_s is null then now() end
      from ${resultsTable(results)}
      where ${tenantRows(db, caller, 'd')} and d.id = result.delivery_id and d.status = 'pending'
      returning d.sync_job_id, d.status
    )
    update package_syncs s
    set status = case settled.status when 'delivered' then 'sent' else 'failed' end, settled_at = now()
    from settled
    where ${tenantRows(db, caller, 's')} and s.job_id = settled.sync_job_id and settled.status <> 'pending'
      -- one that had failed may be sent by a redelivery
      and s.status in ('sending', 'failed')`;
}

/** A URL is paused after this many hours without a success. Source: the contract, "Webhooks and events". */
const PAUSE_AFTER_HOURS = 48;

/** Updates the health of the URL. A success resets the number of failures and ends a pause. */
export function recordHealth({ caller, queue }: DeliveryQueueScope, results: AttemptResult[]): Sql {
  const failures = results.filter(({ outcome }) => outcome !== 'delivered').length;
  const hasSuccess = failures < results.length;
  return sql`
    insert into webhook_endpoints as e
      (tenant_id, courier_id, endpoint, failures, failing_since, last_failure_at, last_success_at)
    values (${caller.tenantId}::uuid, ${queue.courierId}::uuid, ${queue.endpoint},
      ${hasSuccess ? 0 : failures}::int, ${hasSuccess ? sql`null` : sql`now()`},
      ${failures > 0 ? sql`now()` : sql`null`}, ${hasSuccess ? sql`now()` : sql`null`})
    on conflict (tenant_id, courier_id, endpoint) do update set
      failures = case when ${hasSuccess}::boolean then 0 else e.failures + excluded.failures end,
      failing_since = case when ${hasSuccess}::boolean then null else coalesce(e.failing_since, now()) end,
      last_failure_at = coalesce(excluded.last_failure_at, e.last_failure_at),
      last_success_at = coalesce(excluded.last_success_at, e.last_success_at),
      paused_at = case when ${hasSuccess}::boolean then null
        when e.paused_at is null and e.failing_since < now() - make_interval(hours => ${PAUSE_AFTER_HOURS}::int) then now()
        else e.paused_at end`;
}

/**
 * Schedules the queue for the time of its next due delivery, if there is one.
 * @param pauseMs the minimum delay
 */
export function wakeWhenDue({ db, caller, queue }: DeliveryQueueScope, pauseMs: number): Sql {
  const waiting =
    queue.endpoint === 'update_package'
      ? sql`(select now() from package_syncs s where ${tenantRows(db, caller, 's')}
          and s.courier_id = ${queue.courierId}::uuid and s.status = 'queued' limit 1)`
      : sql`null::timestamptz`;
  return wakeDeliveryQueuesWhenDue(
    queue.tenantId,
    // greatest() ignores null: without the condition, an empty queue would be scheduled forever.
    sql`select ${queue.courierId}::uuid as courier_id, ${queue.endpoint} as endpoint,
      greatest(now() + make_interval(secs => ${pauseMs}::int / 1000.0), next.due) as due
      from (select least(${waiting},
        (select min(greatest(d.next_attempt_at, coalesce(d.claimed_until, d.next_attempt_at)))
         from webhook_deliveries d where ${inQueue({ db, caller, queue })} and d.status = 'pending')) as due) as next
      where next.due is not null`,
  );
}

const inQueue = ({ db, caller, queue }: DeliveryQueueScope) =>
  sql`${tenantRows(db, caller, 'd')} and d.courier_id = ${queue.courierId}::uuid and d.endpoint = ${queue.endpoint}`;
