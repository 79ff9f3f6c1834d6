import { sql, type Sql } from '../db/transaction.js';

/** Which of a courier's URLs an event goes to. */
export type Endpoint = 'add_package' | 'update_package';

/** What is sent by itself, and delays nobody else: all that goes to one URL of one courier. */
export type Lane = { tenantId: string; courierId: string; endpoint: Endpoint };

/**
 * The statement that has lanes worked off, from the transaction's commit on. A lane has one job at most that waits:
 * waking it twice is waking it once. One that is being worked off is looked through once more.
 *
 * @param lanes selects courier_id and endpoint
 */
export const wakeLanes = (tenantId: string, lanes: Sql): Sql =>
  addLaneJobs(tenantId, sql`select lane.*, now() as due from (${lanes}) as lane`, false);

/**
 * The same for later; a job that waits already keeps its time.
 *
 * @param lanes selects courier_id, endpoint and due; a null due is never
 */
export const wakeLanesWhenDue = (tenantId: string, lanes: Sql): Sql => addLaneJobs(tenantId, lanes, true);

function addLaneJobs(tenantId: string, lanes: Sql, keepsTime: boolean): Sql {
  // sorted, because two transactions that wake the same lanes in opposite orders would deadlock
  return sql`
    select count(*)::int as woken from (
      select array(
        select row('deliver', json_build_object('tenantId', ${tenantId}::text, 'courierId', courier_id, 'endpoint', endpoint),
          concat_ws(':', courier_id, endpoint), due, 25, concat_ws(':', 'deliver', courier_id, endpoint), 0,
          null)::graphile_worker.job_spec
        from (${lanes}) as lane where due is not null order by courier_id, endpoint) as specs
    ) as wanted, graphile_worker.add_jobs(wanted.specs, ${keepsTime}::boolean)
    where cardinality(wanted.specs) > 0`;
}
