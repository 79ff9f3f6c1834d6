import type { UserContext } from '../../../platform/context/request-context.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import { wakeDeliveryQueues } from '../../../platform/queue/delivery-queues.js';

export type SyncCounts = {
  /** The number of packages that match, at most `atMost` + 1. */
  selected: number;
  /** The number of matching packages that have a courier and were not queued before. */
  queued: number;
  /** The number of delivery queues that got a job. */
  woken: number;
};

/**
 * Marks packages for synchronisation with the courier's own system, in one statement. The worker sends the
 * package's state at the time of sending. A package that is already queued keeps its position. If more than
 * `atMost` packages match, none is marked.
 * @param selection a condition on packages `p` that includes the caller's scope
 */
export function queueSyncs(
  { tenantId, traceparent }: UserContext,
  selection: Sql,
  { dispatchId = null, atMost = 1 }: { dispatchId?: string | null; atMost?: number } = {},
): Sql<SyncCounts> {
  // Sorted by id, because two dispatches of the same packages in opposite orders would deadlock. Locks the
  // packages first, in the same order as every other writer: the foreign key of package_syncs would lock them
  // only later.
  return sql`with selected as materialized (
      select p.id, p.courier_id from packages p where ${selection}
      order by p.id limit ${atMost}::int + 1 for key share of p
    ), marked as (
      insert into package_syncs as sync (tenant_id, package_id, courier_id, job_id, dispatch_id, traceparent)
      select ${tenantId}::uuid, s.id, s.courier_id, new_id(), ${dispatchId}::uuid, ${traceparent ?? null}
      from selected s where s.courier_id is not null and (select count(*) from selected) <= ${atMost}::int
      order by s.id
      on conflict (tenant_id, package_id) do update set status = 'queued', courier_id = excluded.courier_id,
        job_id = excluded.job_id, dispatch_id = excluded.dispatch_id, traceparent = excluded.traceparent, requested_at = now(), settled_at = null
      where sync.status <> 'queued'
      returning courier_id
    ), woken as (${wakeDeliveryQueues({ tenantId, traceparent }, sql`select distinct courier_id, 'update_package' as endpoint from marked`)})
    select (select count(*)::int from selected) as selected, (select count(*)::int from marked) as queued, woken
    from woken`;
}
