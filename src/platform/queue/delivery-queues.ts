import { tenantRows, type FilterScope } from '../db/filters.js';
import { once, sql, type Sql } from '../db/statements.js';
import type { Traced } from '../tracing/span.js';

/** The courier's URL that an event is sent to. */
export type Endpoint = 'add_package' | 'update_package';

/** The deliveries to one URL of one courier. Each delivery queue is processed independently of the others. */
export type DeliveryQueue = { tenantId: string; courierId: string; endpoint: Endpoint };

/**
 * Returns the statement that queues the delivery job of each given queue; the job starts after the transaction's commit.
 * A delivery queue has at most one waiting job, so calling this twice has the effect of one call. If its job is running, the
 * job runs once more afterwards.
 *
 * @param queues selects courier_id and endpoint
 */
export const wakeDeliveryQueues = (ctx: Waker, queues: Sql): Sql =>
  addDeliveryJobs(ctx, sql`select queue.*, now() as due from (${queues}) as queue`, false);

/**
 * Returns the statement that queues delivery jobs for a later time, which ends the trace of the job. A job that is already waiting keeps
 * its time.
 *
 * @param queues selects courier_id, endpoint and due; rows with a null due are ignored
 */
export const wakeDeliveryQueuesWhenDue = (ctx: Waker, queues: Sql): Sql =>
  addDeliveryJobs({ tenantId: ctx.tenantId }, queues, true);

/** The same for one queue, at a random time within a period in seconds. */
export const wakeDeliveryQueueWithin = (
  ctx: Waker,
  { courierId, endpoint }: DeliveryQueue,
  seconds: number,
): Sql =>
  wakeDeliveryQueuesWhenDue(
    ctx,
    sql`select ${courierId}::uuid as courier_id, ${endpoint} as endpoint, now() + random() * make_interval(secs => ${seconds}::float8) as due`,
  );

/**
 * Makes the pending deliveries of a queue due now, whenever their next attempt was scheduled: the receiver works again, or the
 * URL is a new one. Those that are being sent or settled at this moment are skipped, so that no two transactions wait for each other.
 */
export const makePendingDue = (scope: FilterScope<{ tenantId: string }>, queue: DeliveryQueue): Sql =>
  once`with waiting as (
      select d.id from webhook_deliveries d
      where ${tenantRows(scope, 'd')} and d.courier_id = ${queue.courierId}::uuid and d.endpoint = ${queue.endpoint}
        and d.status = 'pending' and d.next_attempt_at > now() and (d.claimed_until is null or d.claimed_until < now())
      for update skip locked
    )
    update webhook_deliveries d set next_attempt_at = now()
    from waiting where ${tenantRows(scope, 'd')} and d.id = waiting.id`;

type Waker = Traced & { tenantId: string };

function addDeliveryJobs({ tenantId, traceparent }: Waker, queues: Sql, keepsTime: boolean): Sql {
  // One call per queue, sorted by key: transactions that add the same jobs in different orders deadlock, and the order within
  // one call depends on the query plan.
  return once`select count(*)::int as woken
      from (
        select courier_id, endpoint, due, concat_ws(':', 'deliver', courier_id, endpoint) as key
        from (${queues}) as queue where due is not null order by key
      ) as keyed
      cross join lateral graphile_worker.add_jobs(array[row('deliver',
        json_strip_nulls(json_build_object('tenantId', ${tenantId}::text, 'courierId', courier_id, 'endpoint', endpoint,
          'traceparent', ${traceparent ?? null}::text)),
        key, due, 25, key, 0, null)::graphile_worker.job_spec], ${keepsTime}::boolean)`;
}
