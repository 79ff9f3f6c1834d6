import type { components } from '../../../../generated/contract.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { countingEvents } from '../../../platform/db/locks.js';
import { once, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { wakeDeliveryQueues, type Endpoint } from '../../../platform/queue/delivery-queues.js';
import type { Scope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', [
  'id',
  'courierId',
  'trackingNumber',
  'houseNumber',
  'userCode',
  'firstName',
  'lastName',
  'packageType',
  'shipper',
  'description',
  'status',
]);
const MANIFEST = columns('Manifest', 'm', ['manifestNumber']);

/** A package in the payload of an event. Numbers are exact decimal text, times have the contract's format. */
export type EventPackageRow = RowOf<typeof PACKAGE> & {
  courierId: string;
  weight: string;
  length: string | null;
  width: string | null;
  height: string | null;
  status: components['schemas']['PackageStatus'];
  manifestNumber: string | null;
  entryDateTime: string;
};

/** Selects the packages that have a courier, in the order of the ids. */
export function selectEventPackages(ctx: Scope, packageIds: string[]): Sql<EventPackageRow> {
  return once`
    select ${PACKAGE}, p.weight_lb::text as weight,
      p.length_in::text as length, p.width_in::text as width, p.height_in::text as height, ${MANIFEST},
      to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "entryDateTime"
    from unnest(${packageIds}::uuid[]) with ordinality as changed (id, position)
    join packages p on p.id = changed.id and ${tenantRows(ctx, 'p')}
    left join manifests m on m.tenant_id = p.tenant_id and m.id = p.manifest_id and ${tenantRows(ctx, 'm')}
    where p.courier_id is not null
    order by changed.position`;
}

export type NewEvent = {
  id: string;
  courier_id: string;
  type: string;
  endpoint: Endpoint;
  package_id: string;
  data: object;
  /** The synchronisation (package_syncs) that the event delivers; null for none. */
  sync_job_id: string | null;
  /** The trace that the event belongs to. */
  traceparent: string | undefined;
};

/** Events as they are stored: their couriers, and the elements of a JSON list in UTF-8. */
export type EventBatch = { couriers: string[]; json: Buffer };

/** Serializes events that are stored later. To serialize and encode those of 10,000 packages in one turn blocked the event loop for 50 ms. */
export const batchOf = (events: NewEvent[]): EventBatch[] =>
  events.length === 0
    ? []
    : [
        {
          couriers: [...new Set(events.map(({ courier_id }) => courier_id))],
          json: Buffer.from(JSON.stringify(events).slice(1, -1)),
        },
      ];

/**
 * Stores events with the next sequence numbers of their couriers, in the given order. Creates a delivery for
 * each event whose courier has a URL that is not paused, and schedules the delivery queues. The couriers'
 * counters stay locked until the transaction ends, so it should end soon.
 *
 * @param changed packages whose queued synchronisations are delivered too. One call schedules all queues, in the order of their keys
 */
export function insertEvents(scope: Scope, batches: EventBatch[], changed: string[]): Sql {
  const { tenantId } = scope;
  const couriers = [...new Set(batches.flatMap((batch) => batch.couriers))];
  const texts = batches.flatMap(({ json }, n) => [Buffer.from(n === 0 ? '[' : ','), json]);
  const events = Buffer.concat([...texts, Buffer.from(']')]);
  const statement = once`
    with new_events as (
      select * from rows from (jsonb_to_recordset(convert_from(${events}::bytea, 'UTF8')::jsonb) as
        (id uuid, courier_id uuid, type text, endpoint text, package_id uuid, data jsonb, sync_job_id uuid,
         traceparent text))
        with ordinality as new_event
          (id, courier_id, type, endpoint, package_id, data, sync_job_id, traceparent, position)
    ), counted as (
      -- sorted, because two transactions that count for the same couriers in opposite orders would deadlock
      insert into event_counters as counter (tenant_id, courier_id, last_sequence)
      select ${tenantId}::uuid, courier_id, count(*) from new_events group by courier_id order by courier_id
      on conflict (tenant_id, courier_id) do update
        set last_sequence = counter.last_sequence + excluded.last_sequence
      returning courier_id, last_sequence
    ), stored as (
      insert into events (tenant_id, id, courier_id, sequence, type, package_id, data)
      select ${tenantId}::uuid, id, courier_id,
        last_sequence - count(*) over of_courier + row_number() over (of_courier order by position), type, package_id, data
      from new_events join counted using (courier_id)
      window of_courier as (partition by courier_id)
      returning id
    ), deliverable as (
      select new_events.* from new_events
      join couriers c on c.tenant_id = ${tenantId}::uuid and c.id = new_events.courier_id and c.is_active
        and case new_events.endpoint when 'add_package' then c.api_url_add_package else c.api_url_update_package end
          is not null
      left join webhook_endpoints e
        on e.tenant_id = c.tenant_id and e.courier_id = c.id and e.endpoint = new_events.endpoint
      where e.paused_at is null
    ), queued as (
      insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, sync_job_id, traceparent)
      select ${tenantId}::uuid, new_id(), deliverable.id, courier_id, endpoint, sync_job_id, traceparent
      from deliverable join stored using (id) order by position
    )
    ${wakeDeliveryQueues(
      scope,
      sql`select courier_id, endpoint from deliverable union ${queuesOfChanged(scope, changed)}`,
    )}`;
  return countingEvents(statement, couriers);
}

/** Schedules the delivery queues of changed packages, for a transaction without events. */
export const wakeQueuesOfChanged = (scope: Scope, changed: string[]): Sql =>
  wakeDeliveryQueues(scope, sql`select distinct queue.* from (${queuesOfChanged(scope, changed)}) as queue`);

const queuesOfChanged = (scope: Scope, changed: string[]): Sql =>
  sql`select s.courier_id, 'update_package' as endpoint from package_syncs s
    where ${tenantRows(scope, 's')} and s.package_id = any(${changed}::uuid[]) and s.status = 'queued'`;

/**
 * Queues the synchronisation of changed packages that have a courier. A package that is already queued keeps its position. Sorted,
 * because two transactions that queue the same packages in opposite orders would deadlock.
 */
export const queueChangedPackages = (scope: Scope, packageIds: string[]): Sql =>
  once`
    insert into package_syncs as sync (tenant_id, package_id, courier_id, job_id, traceparent)
    select ${scope.tenantId}::uuid, p.id, p.courier_id, new_id(), ${scope.traceparent ?? null}
    from packages p
    where ${tenantRows(scope, 'p')} and p.id = any(${packageIds}::uuid[]) and p.courier_id is not null
    order by p.id
    on conflict (tenant_id, package_id) do update set status = 'queued', courier_id = excluded.courier_id,
      job_id = excluded.job_id, dispatch_id = null, traceparent = excluded.traceparent, requested_at = now(), settled_at = null
    where sync.status <> 'queued'`;
