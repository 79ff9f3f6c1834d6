import type { UserCaller } from '../../../platform/identity/callers.js';
import { sql, type Sql } from '../../../platform/db/transaction.js';
import { wakeDeliveryQueues } from '../../../platform/queue/delivery-queues.js';

export type SyncCounts = {
  /** Packages that the condition selects; one more than `atMost` when there are more. */
  selected: number;
  /** Those of them that were not queued already, and have a courier. */
  queued: number;
};

/**
 * Marks packages to be synchronised with their courier's own system, in one statement. What is sent is the package's
 * state at the time of sending. A package that waits already goes on waiting in its place. Beyond `atMost` nothing is
 * marked.
 *
 * @param selection a condition on packages `p`, with the caller's scope in it
 */
export function queueSyncs(
  caller: UserCaller,
  selection: Sql,
  { dispatchId = null, atMost = 1 }: { dispatchId?: string | null; atMost?: number } = {},
): Sql {
  // sorted, because two dispatches of the same packages in opposite orders would deadlock; and the packages are held
  // before what is marked and woken, as whoever changes one does: their foreign key would ask for them only after it
  return sql`with selected as materialized (
      select p.id, p.courier_id from packages p where ${selection}
      order by p.id limit ${atMost}::int + 1 for key share of p
    ), marked as (
      insert into package_syncs as sync (tenant_id, package_id, courier_id, job_id, dispatch_id)
      select ${caller.tenantId}::uuid, s.id, s.courier_id, new_id(), ${dispatchId}::uuid
      from selected s where s.courier_id is not null and (select count(*) from selected) <= ${atMost}::int
      order by s.id
      on conflict (tenant_id, package_id) do update set status = 'queued', courier_id = excluded.courier_id,
        job_id = excluded.job_id, dispatch_id = excluded.dispatch_id, requested_at = now(), settled_at = null
      where sync.status <> 'queued'
      returning courier_id
    ), woken as (${wakeDeliveryQueues(caller.tenantId, sql`select distinct courier_id, 'update_package' as endpoint from marked`)})
    select (select count(*)::int from selected) as selected, (select count(*)::int from marked) as queued, woken
    from woken`;
}
