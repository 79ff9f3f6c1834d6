import type { SystemContext } from '../context/request-context.js';
import { tenantRows } from '../db/filters.js';
import { sql, type Sql } from '../db/statements.js';

/** The backlog of background work over all tenants. Ages are in seconds, and 0 if nothing waits. */
export type BacklogRow = {
  outbound: {
    pending_deliveries: number;
    oldest_due_delivery_seconds: number;
    paused_endpoints: number;
    queued_mails: number;
    oldest_queued_mail_seconds: number;
    open_syncs: number;
    oldest_open_sync_seconds: number;
  };
  labels: { waiting_labels: number; oldest_waiting_label_seconds: number; failed_labels: number };
  is_outbound_paused: boolean;
  /** Whether the server accepts no writes: a standby, or default_transaction_read_only. */
  is_read_only: boolean;
  /** One row per kind of job that was ever queued. */
  queue: QueueRow[];
  /** Worker pools with a recent heartbeat. */
  worker_pools: number;
  /** Seconds since the latest heartbeat of any worker pool; null without one. */
  latest_heartbeat_seconds: number | null;
  background_migrations: { name: string; rows_done: number; rows_total: number; is_finished: boolean }[];
};

type QueueRow = {
  kind: string;
  /** Jobs that a worker may take now. */
  ready: number;
  /** Due jobs that wait for a running job of the same named queue. */
  blocked: number;
  /** Jobs for later, including retries. */
  scheduled: number;
  running: number;
  /** Jobs that have failed all attempts. */
  failed: number;
  oldest_ready_seconds: number;
  longest_running_seconds: number;
};

/** Three heartbeats at the longest allowed interval. Worker pools without a heartbeat for longer count as crashed. */
const LIVE_SECONDS = 45;

/** One statement, so that all values are from one snapshot and need one round trip. */
export function selectBacklog(): Sql {
  return sql`
    select
      (select to_json(outbound) from outbound_backlog() as outbound) as outbound,
      (select to_json(labels) from label_backlog() as labels) as labels,
      (select paused_at is not null from installation.outbound) as is_outbound_paused,
      current_setting('transaction_read_only')::boolean as is_read_only,
      (select coalesce(json_agg(kinds), '[]') from (${selectQueue()}) as kinds) as queue,
      (select count(*)::int from queue.worker_pools
       where seen_at > now() - make_interval(secs => ${LIVE_SECONDS}::int)) as worker_pools,
      (select extract(epoch from now() - max(seen_at))::float from queue.worker_pools) as latest_heartbeat_seconds,
      (select coalesce(json_agg(migrations), '[]') from (${selectBackground()}) as migrations) as background_migrations`;
}

const selectQueue = (): Sql => sql`
  select task.identifier as kind,
    count(*) filter (where job.is_available and run_at <= now() and named_queue.locked_at is null) as ready,
    count(*) filter (where job.is_available and run_at <= now() and named_queue.locked_at is not null) as blocked,
    count(*) filter (where job.is_available and run_at > now()) as scheduled,
    count(*) filter (where job.locked_at is not null) as running,
    count(*) filter (where job.locked_at is null and not job.is_available) as failed,
    coalesce(extract(epoch from now() -
      min(run_at) filter (where job.is_available and run_at <= now() and named_queue.locked_at is null)), 0)
      as oldest_ready_seconds,
    coalesce(extract(epoch from now() - min(job.locked_at)), 0) as longest_running_seconds
  from graphile_worker._private_tasks task
  left join graphile_worker._private_jobs job on job.task_id = task.id
  left join graphile_worker._private_job_queues named_queue on named_queue.id = job.job_queue_id
  group by task.identifier order by task.identifier`;

const selectBackground = (): Sql => sql`
  select name, rows_done, rows_total, status = 'finished' as is_finished
  from installation.background_migrations order by name`;

export type PendingRow = {
  tenant: string;
  courier: string | null;
  kind: 'webhook' | 'manifest mail' | 'bill mail' | 'notice' | 'account mail' | 'customer synchronisation';
  count: number;
  oldest: Date;
  newest: Date;
};

/** What waits to be sent or fetched, by courier and kind. Account mails belong to no courier. */
export function pendingWork(ctx: SystemContext): Sql<PendingRow> {
  return sql`
    with waiting as (
      select d.courier_id, 'webhook' as kind, d.created_at from webhook_deliveries d
      where ${tenantRows(ctx, 'd')} and d.status = 'pending'
      union all
      select m.courier_id, 'manifest mail', m.created_at from manifest_mails m
      where ${tenantRows(ctx, 'm')} and m.status = 'queued'
      union all
      select b.courier_id, 'bill mail', b.created_at from bill_mails b
      where ${tenantRows(ctx, 'b')} and b.status = 'queued'
      union all
      select nm.courier_id, 'notice', nm.created_at from notice_mails nm
      where ${tenantRows(ctx, 'nm')} and nm.status = 'queued'
      union all
      select null, 'account mail', a.created_at from account_mails a
      where ${tenantRows(ctx, 'a')} and a.status = 'queued'
      union all
      select r.courier_id, 'customer synchronisation', r.created_at from customer_sync_runs r
      where ${tenantRows(ctx, 'r')} and r.status in ('queued', 'running')
    )
    select t.slug as tenant, c.code as courier, w.kind, count(*)::int as count,
      min(w.created_at) as oldest, max(w.created_at) as newest
    from waiting w join tenants t on t.id = ${ctx.tenantId}::uuid
    left join couriers c on ${tenantRows(ctx, 'c')} and c.id = w.courier_id
    group by 1, 2, 3 order by 2 nulls last, 3`;
}
