import { sql, type Sql } from '../db/transaction.js';

/** What waits after the commit, over all tenants; ages are in seconds, 0 when nothing waits. */
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
  /** A row for each kind of job that there ever was. */
  queue: QueueRow[];
  /** Pools of workers that have been seen lately. */
  worker_pools: number;
};

export type QueueRow = {
  kind: string;
  /** A worker may take them now. */
  ready: number;
  /** Due, behind a job of the same named queue that is being worked on. */
  blocked: number;
  /** For later, those among them that are tried again. */
  scheduled: number;
  running: number;
  /** Given up. */
  failed: number;
  oldest_ready_seconds: number;
  longest_running_seconds: number;
};

/** Three heartbeats at their slowest: who was not seen for longer is taken for dead. */
const LIVE_SECONDS = 45;

/** All of it in one statement, so that it is of one moment and costs one round trip. */
export function selectBacklog(): Sql {
  return sql`
    select
      (select to_json(outbound) from outbound_backlog() as outbound) as outbound,
      (select coalesce(json_agg(kinds), '[]') from (${selectQueue()}) as kinds) as queue,
      (select count(*)::int from queue.worker_pools
       where seen_at > now() - make_interval(secs => ${LIVE_SECONDS}::int)) as worker_pools`;
}

const selectQueue = (): Sql => sql`
  select task.identifier as kind,
    count(*) filter (where job.is_available and run_at <= now() and lane.locked_at is null) as ready,
    count(*) filter (where job.is_available and run_at <= now() and lane.locked_at is not null) as blocked,
    count(*) filter (where job.is_available and run_at > now()) as scheduled,
    count(*) filter (where job.locked_at is not null) as running,
    count(*) filter (where job.locked_at is null and not job.is_available) as failed,
    coalesce(extract(epoch from now() -
      min(run_at) filter (where job.is_available and run_at <= now() and lane.locked_at is null)), 0)
      as oldest_ready_seconds,
    coalesce(extract(epoch from now() - min(job.locked_at)), 0) as longest_running_seconds
  from graphile_worker._private_tasks task
  left join graphile_worker._private_jobs job on job.task_id = task.id
  left join graphile_worker._private_job_queues lane on lane.id = job.job_queue_id
  group by task.identifier order by task.identifier`;
