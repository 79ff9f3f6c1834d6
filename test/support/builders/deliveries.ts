import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { components } from '../../../generated/contract.js';
import { DEMO } from '../../../fixtures/demo/demo.js';

type EventType = components['schemas']['WebhookType'];

/** Returns the data of an event about a package. */
export const eventPackage = (packageId: string): components['schemas']['EventPackage'] => ({
  package_id: packageId,
  tracking_number: '1Z999AA10123456784',
  house_number: '7K3M9QW',
  user_code: 'IEX-1001',
  first_name: 'Marcia',
  last_name: 'Campbell',
  weight: 2.25,
  length: 12,
  width: 8.5,
  height: null,
  package_type: 'box',
  shipper: 'Amazon',
  description: 'Running shoes',
  status: 'received',
  manifest_number: null,
  entry_date_time: '2026-11-21 15:04:09',
});

const STATUS_CHANGE: components['schemas']['EventStatusChange'] = {
  package_id: '',
  tracking_number: '1Z999AA10123456784',
  house_number: '7K3M9QW',
  user_code: 'IEX-1001',
  previous_status: 'received',
  status: 'shipped',
  manifest_number: null,
};

export type Planted = {
  tenantId?: string;
  courierId?: string;
  packageId?: string;
  type?: EventType;
  data?: object;
  /** Age of the event as an interval of PostgreSQL. */
  age?: string;
};

/** Plants an event with its courier's next sequence number. Returns its id. */
export async function insertEvent(owner: pg.Pool, inserted: Planted = {}): Promise<string> {
  const {
    tenantId = DEMO.tenants.demo,
    courierId = DEMO.couriers.IEX,
    packageId = randomUUID(),
    type = 'package.created',
    age = '0',
  } = inserted;
  const isChange = type === 'package.status_changed';
  const data =
    inserted.data ?? (isChange ? { ...STATUS_CHANGE, package_id: packageId } : eventPackage(packageId));
  const { rows } = await owner.query<{ id: string }>(
    `with counted as (
       insert into event_counters as k (tenant_id, courier_id, last_sequence) values ($1, $2, 1)
       on conflict (tenant_id, courier_id) do update set last_sequence = k.last_sequence + 1 returning last_sequence
     )
     insert into events (tenant_id, id, courier_id, sequence, type, package_id, data, occurred_at)
     select $1, new_id(), $2, last_sequence, $3, $4, $5, now() - $6::interval from counted returning id`,
    [tenantId, courierId, type, packageId, JSON.stringify(data), age],
  );
  return rows[0]?.id ?? '';
}

export type InsertedDelivery = {
  eventId: string;
  status?: 'pending' | 'delivered' | 'failed';
  origin?: 'event' | 'redelivery' | 'recovery' | 'test';
  attempts?: number;
  syncJobId?: string;
  createdAt?: string;
};

/** Plants a delivery to the URL of the event's type, by default a delivered one. Returns its id. */
export async function insertDelivery(owner: pg.Pool, inserted: InsertedDelivery): Promise<string> {
  const { eventId, status = 'delivered', origin = 'event', attempts = 0, syncJobId, createdAt } = inserted;
  const { rows } = await owner.query<{ id: string }>(
    `insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint, origin, status, attempt_count,
       next_attempt_at, settled_at, sync_job_id, created_at)
     select tenant_id, new_id(), id, courier_id, case type when 'package.created' then 'add_package' else 'update_package' end,
       $2, $3, $4::int, case $3 when 'pending' then now() + interval '1 hour' end,
       case $3 when 'pending' then null else now() end, $5, coalesce($6, now())
     from events where id = $1 returning id`,
    [eventId, origin, status, attempts, syncJobId ?? null, createdAt ?? null],
  );
  await owner.query(
    `insert into webhook_attempts (tenant_id, delivery_id, number, courier_id, started_at, duration_ms, outcome, http_status,
       response_start, error)
     select tenant_id, id, number, courier_id, now(), 40 * number, 'rejected', 500, 'no thanks', 'Answered 500.'
     from webhook_deliveries, generate_series(1, attempt_count) as number where id = $1`,
    [rows[0]?.id],
  );
  return rows[0]?.id ?? '';
}

/**
 * Plants deliveries with different couriers, types, statuses and days. Returns values that only some of them have.
 */
export async function insertLog(
  owner: pg.Pool,
): Promise<{ eventId: string; packageId: string; day: string }> {
  const packageId = randomUUID();
  const created = await insertEvent(owner, { packageId });
  const changed = await insertEvent(owner, { type: 'package.status_changed' });
  const { HRB, TWO } = DEMO.couriers;
  const others = [
    await insertEvent(owner, { courierId: HRB, type: 'package.updated' }),
    await insertEvent(owner, { courierId: TWO, tenantId: DEMO.tenants.two }),
  ];
  await insertDelivery(owner, {
    eventId: created,
    status: 'failed',
    attempts: 2,
    createdAt: '2026-11-18 12:00Z',
  });
  await insertDelivery(owner, { eventId: created, origin: 'redelivery', createdAt: '2026-11-19 00:00Z' });
  await insertDelivery(owner, { eventId: changed, status: 'pending', createdAt: '2026-11-19 23:59:59.9Z' });
  for (const eventId of others) await insertDelivery(owner, { eventId, createdAt: '2026-11-20 00:00Z' });
  return { eventId: created, packageId, day: '2026-11-19' };
}

/** Plants a dispatch by staff that selected no packages. Returns its id. */
export async function insertDispatch(owner: pg.Pool): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `insert into dispatches (tenant_id, id, requested_by, selected, queued) values ($1, new_id(), $2, 0, 0) returning id`,
    [DEMO.tenants.demo, DEMO.users.admin],
  );
  return rows[0]?.id ?? '';
}

type NewLabelJob = {
  packageId: string;
  status: 'claimed' | 'sending' | 'failed' | 'printed';
  claimId: string;
};

/** Inserts a label job of a package that a bridge has claimed, and returns its id. */
export async function insertLabelJob(
  owner: pg.Pool,
  { packageId, status, claimId }: NewLabelJob,
): Promise<string> {
  const { rows } = await owner.query<{ id: string }>(
    `insert into label_jobs (tenant_id, id, print_id, station, package_id, copies, status, claim_id, lease_until, requested_by,
       ended_at)
     select tenant_id, new_id(), new_id(), 'belt-1', id, 1, $2, $3, now() + interval '1 minute', new_id(),
       case when $2 in ('failed', 'printed') then now() end
     from packages where id = $1 returning id`,
    [packageId, status, claimId],
  );
  const [row] = rows;
  if (!row) throw new Error(`There is no package ${packageId}.`);
  return row.id;
}
