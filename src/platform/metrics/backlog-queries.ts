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
  /** One row per kind of job that was ever queued. */
  queue: QueueRow[];
  /** Worker pools with a recent heartbeat. */
  worker_pools: number;
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
      (select coalesce(json_agg(kinds), '[]') from (${selectQueue()}) as kinds) as queue,
      (select count(*)::int from queue.worker_pools
       where seen_at > now() - make_interval(secs => ${LIVE_SECONDS}::int)) as worker_pools,
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
