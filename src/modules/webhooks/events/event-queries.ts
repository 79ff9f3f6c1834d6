import type { components } from '../../../../generated/contract.js';
import { HEARD, joinHeard } from '../../carrier-tracking/public.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { countingEvents } from '../../../platform/db/locks.js';
import { once, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { presentCode } from '../../../platform/db/user-codes.js';
import { wakeDeliveryQueues } from '../../../platform/queue/delivery-queues.js';
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
const PREALERT = columns('Prealert', 'a', { prealertId: 'id', reference: 'reference' });

/** A package in the payload of an event. Numbers are exact decimal text, times have the contract's format. */
export type EventPackageRow = RowOf<typeof PACKAGE> & {
  courierId: string;
  weight: string;
  length: string | null;
  width: string | null;
  height: string | null;
  status: components['schemas']['PackageStatus'];
  manifestNumber: string | null;
  prealertId: string | null;
  /** The courier's own reference of the pre-alert. */
  reference: string | null;
  entryDateTime: string;
};

/** Selects the packages that have a courier, in the order of the ids. */
export function selectEventPackages(ctx: Scope, packageIds: string[]): Sql<EventPackageRow> {
  return once`
    select ${PACKAGE}, p.weight_lb::text as weight,
      p.length_in::text as length, p.width_in::text as width, p.height_in::text as height, ${MANIFEST}, ${PREALERT},
      to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as "entryDateTime"
    from unnest(${packageIds}::uuid[]) with ordinality as changed (id, position)
    join packages p on p.id = changed.id and ${tenantRows(ctx, 'p')}
    left join manifests m on m.tenant_id = p.tenant_id and m.id = p.manifest_id and ${tenantRows(ctx, 'm')}
    left join prealerts a on a.tenant_id = p.tenant_id and a.id = p.prealert_id and a.courier_id = p.courier_id and ${tenantRows(ctx, 'a')}
    where p.courier_id is not null
    order by changed.position`;
}

export type NewEvent = {
  id: string;
  courier_id: string;
  type: string;
  package_id?: string;
  /** Null if the statement reads the data of the pre-alert. */
  data: object | null;
  /** The pre-alert of a `prealert.*`. */
  prealert_id?: string;
  /** The synchronisation (package_syncs) that the event delivers; null for none. */
  sync_job_id?: string | null;
  /** The trace that the event belongs to. */
  traceparent: string | undefined;
};

/** Events as they are stored: their couriers, and the elements of a JSON list in UTF-8. */
export type EventBatch = {
  couriers: string[];
  json: Buffer;
  /** Whether some are stored only if their courier has chosen their type. */
  areOptional: boolean;
};

/** Whether events of the type are stored only if their courier has chosen it for one of its URLs. */
const isOptional = ({ type }: NewEvent): boolean => !type.startsWith('package.');

/** Serializes events that are stored later. To serialize and encode those of 10,000 packages in one turn blocked the event loop for 50 ms. */
export const batchOf = (events: NewEvent[]): EventBatch[] =>
  events.length === 0
    ? []
    : [
        {
          couriers: [...new Set(events.map(({ courier_id }) => courier_id))],
          json: Buffer.from(JSON.stringify(events).slice(1, -1)),
          areOptional: events.some(isOptional),
        },
      ];

/**
 * Stores events with the next sequence numbers of their couriers, in the given order: all of packages, and of other types those that
 * their courier has chosen for one of its URLs (decision 0145). Creates a delivery for each URL that has the type and is not paused, and
 * schedules the delivery queues. The couriers' counters stay locked until the transaction ends, so it should end soon.
 *
 * @param changed packages whose queued synchronisations are delivered too. One call schedules all queues, in the order of their keys
 */
export function insertEvents(scope: Scope, batches: EventBatch[], changed: string[]): Sql {
  const { tenantId } = scope;
  const couriers = [...new Set(batches.flatMap((batch) => batch.couriers))];
  const texts = batches.flatMap(({ json }, n) => [Buffer.from(n === 0 ? '[' : ','), json]);
  const events = Buffer.concat([...texts, Buffer.from(']')]);
  const given = sql`select * from rows from (jsonb_to_recordset(convert_from(${events}::bytea, 'UTF8')::jsonb) as
        (id uuid, courier_id uuid, type text, package_id uuid, prealert_id uuid, data jsonb, sync_job_id uuid, traceparent text))
        with ordinality as new_event
          (id, courier_id, type, package_id, prealert_id, data, sync_job_id, traceparent, position)`;
  const areOptional = batches.some((batch) => batch.areOptional);
  const statement = once`
    with new_events as (
      ${areOptional ? chosenOf(scope, given) : given}
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
      select new_events.*, u.endpoint from new_events
      join couriers c on c.tenant_id = ${tenantId}::uuid and c.id = new_events.courier_id and c.is_active
      cross join lateral (values ('add_package', c.api_url_add_package, c.add_package_events),
        ('update_package', c.api_url_update_package, c.update_package_events)) as u (endpoint, url, events)
      left join webhook_endpoints e on e.tenant_id = c.tenant_id and e.courier_id = c.id and e.endpoint = u.endpoint
      where u.url is not null and new_events.type = any(u.events) and e.paused_at is null
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

/**
 * Of the given events, those that are stored. The pre-alerts of those are read here, so that a pre-alert whose courier has not chosen
 * the type costs a look at its courier. A package is named if the courier sees it with its customer: until then its number is masked.
 */
const chosenOf = (scope: Scope, given: Sql): Sql =>
  sql`select n.id, n.courier_id, n.type, coalesce(n.package_id, announced.package_id) as package_id, n.prealert_id,
        coalesce(n.data, announced.data) as data, n.sync_job_id, n.traceparent, n.position
      from (${given}) n
      left join couriers k on ${tenantRows(scope, 'k')} and k.id = n.courier_id
      left join lateral (
        select p.id as package_id, jsonb_build_object('prealert_id', a.id, 'tracking_number', a.tracking_number,
          'user_code', ${presentCode('a')}, 'vendor', a.vendor, 'description', a.description, 'reference', a.reference,
          'status', case n.type when 'prealert.flagged' then 'flagged' when 'prealert.reopened' then 'pending' when 'prealert.missing' then 'pending'
            else 'received' end,
          'package_id', p.id, 'house_number', p.house_number,
          'announced_at', to_char(a.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
          || case n.type when 'prealert.missing' then jsonb_build_object('carrier_tracking', ${HEARD}) else '{}'::jsonb end as data
        from prealerts a
        left join packages p on ${tenantRows(scope, 'p')} and p.tracking_key = a.tracking_key and p.courier_id = a.courier_id
          and p.user_code is not null and n.type in ('prealert.received', 'prealert.claimed')
        ${joinHeard('a')} and n.type = 'prealert.missing'
        where ${tenantRows(scope, 'a')} and a.id = n.prealert_id and a.courier_id = n.courier_id
      ) announced on n.prealert_id is not null
      where (n.type like 'package.%' or n.type = any(k.add_package_events || k.update_package_events))
        and (n.prealert_id is null or announced.data is not null)`;

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
