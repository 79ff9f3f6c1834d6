import type pg from 'pg';

/** How many signs of life a pool of workers may miss before it is taken for dead. */
const MISSED_HEARTBEATS = 3;

/** Says that a pool of workers lives. */
export async function recordHeartbeat(pg: pg.Pool, poolId: string): Promise<void> {
  await pg.query(
    `insert into queue.worker_pools as pool (id) values ($1) on conflict (id) do update set seen_at = now()`,
    [poolId],
  );
}

/**
 * Gives the jobs of dead pools back to the queue, and answers how many pools that was. Dead is who holds a job and has
 * not been seen for three beats, by the database's clock; the library itself would wait for four hours.
 */
export async function recoverJobs(pg: pg.Pool, beatSeconds: number): Promise<number> {
  const { rows } = await pg.query<{ dead: string[] | null }>(
    `select array_agg(distinct held.locked_by) as dead
     from (
       select locked_by, locked_at from graphile_worker._private_jobs where locked_at is not null
       union all
       select locked_by, locked_at from graphile_worker._private_job_queues where locked_at is not null
     ) held
     where held.locked_at < now() - make_interval(secs => $1) and not exists (
       select from queue.worker_pools living
       where living.id = held.locked_by and living.seen_at > now() - make_interval(secs => $1))`,
    [beatSeconds * MISSED_HEARTBEATS],
  );
  const dead = rows[0]?.dead ?? [];
  if (dead.length > 0) await releaseJobs(pg, dead);
  return dead.length;
}

/** Gives back what these pools hold. */
export async function releaseJobs(pg: pg.Pool, poolIds: string[]): Promise<void> {
  await pg.query('select graphile_worker.force_unlock_workers($1)', [poolIds]);
  await pg.query('delete from queue.worker_pools where id = any($1)', [poolIds]);
}
