import { sql, type Sql } from '../db/transaction.js';

/** Which of a courier's URLs an event goes to. */
export type Endpoint = 'add_package' | 'update_package';

/** What is sent by itself, and delays nobody else: all that goes to one URL of one courier. */
export type DeliveryQueue = { tenantId: string; courierId: string; endpoint: Endpoint };

/**
 * The statement that has lanes worked off, from the transaction's commit on. A lane has one job at most that waits:
 * waking it twice is waking it once. One that is being worked off is looked through once more.
 *
 * @param lanes selects courier_id and endpoint
 */
export const wakeDeliveryQueues = (tenantId: string, lanes: Sql): Sql =>
  addDeliveryJobs(tenantId, sql`select lane.*, now() as due from (${lanes}) as lane`, false);

/**
 * The same for later; a job that waits already keeps its time.
 *
 * @param lanes selects courier_id, endpoint and due; a null due is never
 */
export const wakeDeliveryQueuesWhenDue = (tenantId: string, lanes: Sql): Sql =>
  addDeliveryJobs(tenantId, lanes, true);

function addDeliveryJobs(tenantId: string, lanes: Sql, keepsTime: boolean): Sql {
  // one call a lane, sorted, because transactions that wake the same lanes in different orders deadlock: given both lanes
  // in one call, the library takes them in the order of whichever plan the session has
  return sql`select count(*)::int as woken
      from (
        select courier_id, endpoint, due, concat_ws(':', 'deliver', courier_id, endpoint) as key
        from (${lanes}) as lane where due is not null order by key
      ) as keyed
      cross join lateral graphile_worker.add_jobs(array[row('deliver',
        json_build_object('tenantId', ${tenantId}::text, 'courierId', courier_id, 'endpoint', endpoint),
        key, due, 25, key, 0, null)::graphile_worker.job_spec], ${keepsTime}::boolean)`;
}
