import { sql, type Sql } from '../../../platform/db/statements.js';
import { wakeDeliveryQueues } from '../../../platform/queue/delivery-queues.js';
import type { UserScope } from '../../../platform/db/scope.js';

export type SyncCounts = {
  /** The number of packages that match, at most `atMost` + 1. */
  selected: number;
  /** The number of matching packages that should be queued. */
  wanted: number;
  /** The number of matching packages that were queued. */
  queued: number;
  /** The number of delivery queues that got a job. */
  woken: number;
};

type Bounds = {
  dispatchId: string;
  /** If more packages match, none is marked. */
  atMost: number;
  /** If more packages should be queued, none is marked. */
  atMostQueued: number;
};

/**
 * Marks packages that a dispatch selects, in one statement. Writes nothing for a package whose courier has no URL that can
 * receive it, nor for one that has not changed since it was last sent: a loop of small requests would otherwise write an event per
 * package each time.
 * @param selection a condition on packages `p` that includes the caller's scope
 */
export function queueSelected(ctx: UserScope, selection: Sql, bounds: Bounds): Sql<SyncCounts> {
  const { tenantId } = ctx;
  return markSelected(
    ctx,
    sql`select p.id, coalesce(receiver.is_open, false) and not coalesce(sync.status = 'queued'
        or sync.status in ('sending', 'sent') and p.updated_at <= sync.requested_at, false) as is_wanted
      from packages p
      left join (
        select c.id, c.is_active and exists (
          select from (values ('add_package', c.api_url_add_package, c.add_package_events),
            ('update_package', c.api_url_update_package, c.update_package_events)) as u (endpoint, url, events)
          left join webhook_endpoints e on e.tenant_id = c.tenant_id and e.courier_id = c.id and e.endpoint = u.endpoint
          where u.url is not null and 'package.updated' = any(u.events) and e.paused_at is null
        ) as is_open
        from couriers c
        where c.tenant_id = ${tenantId}::uuid
      ) receiver on receiver.id = p.courier_id
      left join package_syncs sync on sync.tenant_id = ${tenantId}::uuid and sync.package_id = p.id
      where ${selection}`,
    bounds,
  );
}

function markSelected(
  { tenantId, traceparent }: UserScope,
  packages: Sql,
  { dispatchId, atMost, atMostQueued }: Bounds,
): Sql<SyncCounts> {
  // Sorted by id, because two dispatches of the same packages in opposite orders would deadlock. Locks the
  // packages first, in the same order as every other writer: the foreign key of package_syncs would lock them
  // only later. Only those to mark, because a lock writes to the table.
  return sql`with selected as materialized (
      ${packages} order by p.id limit ${atMost}::int + 1
    ), counted as materialized (
      select count(*)::int as selected, (count(*) filter (where is_wanted))::int as wanted from selected
    ), locked as materialized (
      select p.id, p.courier_id from packages p join selected s on s.id = p.id and s.is_wanted
      where p.tenant_id = ${tenantId}::uuid and p.courier_id is not null
        and (select selected <= ${atMost}::int and wanted <= ${atMostQueued}::int from counted)
      order by p.id for key share of p
    ), marked as (
      insert into package_syncs as sync (tenant_id, package_id, courier_id, job_id, dispatch_id, traceparent)
      select ${tenantId}::uuid, id, courier_id, new_id(), ${dispatchId}::uuid, ${traceparent ?? null}
      from locked order by id
      on conflict (tenant_id, package_id) do update set status = 'queued', courier_id = excluded.courier_id,
        job_id = excluded.job_id, dispatch_id = excluded.dispatch_id, traceparent = excluded.traceparent, requested_at = now(), settled_at = null
      where sync.status <> 'queued'
      returning courier_id
    ), woken as (${wakeDeliveryQueues({ tenantId, traceparent }, sql`select distinct courier_id, 'update_package' as endpoint from marked`)})
    select selected, wanted, (select count(*)::int from marked) as queued, woken from counted, woken`;
}
