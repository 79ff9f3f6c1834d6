import type pg from 'pg';
import { readRows } from '../connections/rows.js';

type Job = {
  task: string;
  payload: unknown;
  queue: string | null;
  run_at: Date;
  max_attempts: number;
  key: string | null;
  priority: number;
};

/** Returns the tenant's jobs that may still run. */
export const readJobs = (client: pg.ClientBase, tenantId: string): Promise<Job[]> =>
  readRows(
    client,
    `select t.identifier as task, j.payload, q.queue_name as queue, j.run_at, j.max_attempts, j.key, j.priority
     from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id
     left join graphile_worker._private_job_queues q on q.id = j.job_queue_id
     where j.payload ->> 'tenantId' = $1 and j.attempts < j.max_attempts order by j.id`,
    [tenantId],
  );

/** Queues the jobs of another cell. One that runs there at the same time runs twice, as after a crash. */
export async function addJobs(client: pg.ClientBase, jobs: Job[]): Promise<void> {
  for (const { task, payload, queue, run_at: runAt, max_attempts: maxAttempts, key, priority } of jobs)
    await client.query('select graphile_worker.add_job($1, $2::json, $3, $4, $5, $6, $7)', [
      task,
      JSON.stringify(payload),
      queue,
      runAt,
      maxAttempts,
      key,
      priority,
    ]);
}

/** Removes the jobs that no worker runs. A running one fails at the fence, and its repetition is removed by the next command. */
export async function removeJobs(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query(
    `select graphile_worker.complete_jobs(array(
       select id from graphile_worker._private_jobs where payload ->> 'tenantId' = $1 and locked_at is null))`,
    [tenantId],
  );
}
