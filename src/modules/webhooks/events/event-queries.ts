import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { wakeDeliveryQueues } from '../../../platform/queue/delivery-queues.js';

/** A package in the payload of an event. Numbers are exact decimal text, times have the contract's format. */
export type EventPackageRow = {
  id: string;
  courier_id: string;
  tracking_number: string;
  house_number: string;
  user_code: string | null;
  first_name: string | null;
  last_name: string | null;
  weight: string;
  length: string | null;
  width: string | null;
  height: string | null;
  package_type: string | null;
  shipper: string | null;
  description: string | null;
  status: string;
  manifest_number: string | null;
  entry_date_time: string;
};

type Scope = { db: Pick<Db, 'applicationFilters'>; tenantId: string };

/** Selects the packages that have a courier, in the order of the ids. */
export function selectEventPackages({ db, tenantId }: Scope, packageIds: string[]): Sql {
  return sql`
    select p.id, p.courier_id, p.tracking_number, p.house_number, p.user_code, p.first_name, p.last_name,
      p.weight_lb::text as weight, p.length_in::text as length, p.width_in::text as width, p.height_in::text as height,
      p.package_type, p.shipper, p.description, p.status, m.manifest_number,
      to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as entry_date_time
    from unnest(${packageIds}::uuid[]) with ordinality as wanted (id, place)
    join packages p on p.id = wanted.id and ${tenantRows(db, { tenantId }, 'p')}
    left join manifests m on m.tenant_id = p.tenant_id and m.id = p.manifest_id and ${tenantRows(db, { tenantId }, 'm')}
    where p.courier_id is not null
    order by wanted.place`;
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
};

/**
 * Stores events with the next sequence numbers of their couriers, in the given order. Creates a delivery for
 * each event whose courier has a URL that is not paused, and schedules the delivery queues. The couriers'
 * counters stay locked until the transaction ends, so it should end soon.
 */
export function insertEvents(tenantId: string, events: NewEvent[]): Sql {
  return sql`
    with given as (
      select * from rows from (jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as
        (id uuid, courier_id uuid, type text, endpoint text, package_id uuid, data jsonb, sync_job_id uuid))
        with ordinality as given (id, courier_id, type, endpoint, package_id, data, sync_job_id, place)
    ), counted as (
      -- sorted, because two transactions that count for the same couriers in opposite orders would deadlock
      insert into event_counters as counter (tenant_id, courier_id, last_sequence)
      select ${tenantId}::uuid, courier_id, count(*) from given group by courier_id order by courier_id
      on conflict (tenant_id, courier_id) do update
        set last_sequence = counter.last_sequence + excluded.last_sequence
      returning courier_id, last_sequence
    ), stored as (
      insert into events (tenant_id, id, courier_id, sequence, type, package_id, data)
      select ${tenantId}::uuid, id, courier_id,
        last_sequence - count(*) over whole + row_number() over (whole order by place), type, package_id, data
      from given join counted using (courier_id)
      window whole as (partition by courier_id)
      returning id
    ), open as (
      select given.* from given
      join couriers c on c.tenant_id = ${tenantId}::uuid and c.id = given.courier_id and c.is_active
        and case given.endpoint when 'add_package' then c.api_url_add_package else c.api_url_update_package end is not null
      left join webhook_endpoints e
        on e.tenant_id = c.tenant_id and e.courier_id = c.id and e.endpoint = given.endpoint
      where e.paused_at is null
    ), promised as (
      insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, sync_job_id)
      select ${tenantId}::uuid, new_id(), open.id, courier_id, endpoint, sync_job_id
      from open join stored using (id) order by place
    )
    ${wakeDeliveryQueues(tenantId, sql`select distinct courier_id, endpoint from open`)}`;
}
