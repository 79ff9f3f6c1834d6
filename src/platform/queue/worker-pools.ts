import type pg from 'pg';
import { readValues } from '../db/connections/rows.js';

/** A worker pool counts as crashed after this number of missed heartbeats. */
export const MISSED_HEARTBEATS = 3;

/** Records a heartbeat of a worker pool. */
export async function recordHeartbeat(pg: pg.Pool, poolId: string): Promise<void> {
  await pg.query(
    `insert into queue.worker_pools as pool (id) values ($1) on conflict (id) do update set seen_at = now()`,
    [poolId],
  );
}

/**
 * Unlocks the jobs of crashed worker pools and returns the number of these pools. A pool has crashed if it has a locked job
 * and no heartbeat for three intervals, by the database's clock. So nobody must call it just after an outage, in which all processes missed
 * theirs. The library itself would wait for four hours.
 */
export async function recoverJobs(pg: pg.Pool, heartbeatSeconds: number): Promise<number> {
  const crashed = await readValues<string>(
    pg,
    `select distinct locked.locked_by
     from (
       select locked_by, locked_at from graphile_worker._private_jobs where locked_at is not null
       union all
       select locked_by, locked_at from graphile_worker._private_job_queues where locked_at is not null
     ) locked
     where locked.locked_at < now() - make_interval(secs => $1) and not exists (
       select from queue.worker_pools alive
       where alive.id = locked.locked_by and alive.seen_at > now() - make_interval(secs => $1))`,
    [heartbeatSeconds * MISSED_HEARTBEATS],
  );
  if (crashed.length > 0) await releaseJobs(pg, crashed);
  return crashed.length;
}

/** Unlocks the jobs of these worker pools. */
export async function releaseJobs(pg: pg.Pool, poolIds: string[]): Promise<void> {
  await pg.query('select graphile_worker.force_unlock_workers($1)', [poolIds]);
  await pg.query('delete from queue.worker_pools where id = any($1)', [poolIds]);
}

/** Deletes the given-up jobs of a repeating kind, after one of its later runs has succeeded: that run has done their work. */
export async function forgetGivenUp(pg: pg.Pool, kind: string): Promise<void> {
  await pg.query(
    `select graphile_worker.complete_jobs(array_agg(job.id))
     from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = job.task_id
     where task.identifier = $1 and job.locked_at is null and job.attempts >= job.max_attempts
     having count(*) > 0`,
    [kind],
  );
}
