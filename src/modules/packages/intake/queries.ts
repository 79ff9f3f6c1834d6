import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';

export type ReceiptRow = {
  id: string;
  house_number: string;
  status: 'received';
  courier_id: string | null;
  user_code: string | null;
  prealert_id: string | null;
  /** ISO 8601, in UTC. */
  received_at: string;
};

// Selected as text, because Prisma's adapter drops the offset of a timestamptz, which shifts the time in a
// session that is not in UTC.
const RECEIPT = sql`p.id, p.house_number, p.status, p.courier_id, p.user_code, p.prealert_id,
  to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as received_at`;

/** The package that an earlier scan stored, and the state of its pre-alerts. */
export type EarlierRow = ReceiptRow & {
  /** A pre-alert of the tracking number is flagged. */
  is_flagged: boolean;
  /** A pending pre-alert names a different owner than the package has. */
  is_disputed: boolean;
};

export function findReceipt(db: Db, caller: UserCaller, trackingKey: string): Sql {
  return sql`select ${RECEIPT}, coalesce(announced.is_flagged, false) as is_flagged,
      coalesce(announced.is_disputed, false) as is_disputed
    from packages p
    cross join lateral (
      select bool_or(a.status = 'flagged') as is_flagged, bool_or(a.status = 'pending' and ${disagrees}) as is_disputed
      from prealerts a
      where ${ownRows(db, caller, 'a')} and a.tenant_id = p.tenant_id and a.tracking_key = p.tracking_key
    ) as announced
    where ${ownRows(db, caller, 'p')} and p.tracking_key = ${trackingKey}`;
}

/**
 * Whether a pre-alert `a` names a different owner than the package `p`. A package without an owner never
 * disagrees.
 */
const disagrees = sql`(a.courier_id <> p.courier_id or a.user_code <> p.user_code)`;

/** Flags the pending pre-alerts that name a different owner than the package. */
export function flagDisputes(db: Db, caller: UserCaller, packageId: string): Sql {
  return sql`with found as (
      select a.tenant_id, a.id
      from packages p
      join prealerts a on ${ownRows(db, caller, 'a')} and a.tenant_id = p.tenant_id and a.tracking_key = p.tracking_key
      where ${ownRows(db, caller, 'p')} and p.id = ${packageId}::uuid and a.status = 'pending' and ${disagrees}
      order by a.id for update of a
    )
    update prealerts a set status = 'flagged', updated_at = now()
    from found where a.tenant_id = found.tenant_id and a.id = found.id
    returning a.id`;
}

export type ReferencedIdsRow = {
  courier_id: string | null;
  carrier_id: string | null;
  warehouse_id: string | null;
};

/**
 * Selects the ids of the records that the body refers to. An id is null if the record does not exist or was
 * not given. Without a warehouse in the body, selects the primary warehouse.
 */
export function findReferencedIds(
  db: Db,
  caller: UserCaller,
  named: { courierId?: string | undefined; carrierId?: string | undefined; warehouseId?: string | undefined },
): Sql {
  const warehouse = named.warehouseId ? sql`w.id = ${named.warehouseId}::uuid` : sql`w.is_primary`;
  return sql`select
    (select c.id from couriers c
      where ${tenantRows(db, caller, 'c')} and c.id = ${named.courierId ?? null}::uuid) as courier_id,
    (select r.id from carriers r
      where ${tenantRows(db, caller, 'r')} and r.id = ${named.carrierId ?? null}::uuid) as carrier_id,
    (select w.id from warehouses w where ${tenantRows(db, caller, 'w')} and ${warehouse}) as warehouse_id`;
}

export type CustomerRow = { courier_id: string; user_code: string; first_name: string; last_name: string };

/** Selects the active customers with a user code, at most two: two are enough to detect an ambiguous code. */
export function findCustomers(db: Db, caller: UserCaller, userCode: string, courierId: string | null): Sql {
  return sql`select c.courier_id, c.user_code, c.first_name, c.last_name from customers c
    where ${ownRows(db, caller, 'c')} and c.user_code = ${userCode} and c.is_active
      and (${courierId}::uuid is null or c.courier_id = ${courierId}::uuid)
    limit 2`;
}

export type OpenPrealertRow = {
  id: string;
  courier_id: string;
  user_code: string;
  tracking_number: string;
  vendor: string | null;
  description: string | null;
  status: string;
  first_name: string | null;
  last_name: string | null;
};

/** Selects and locks the open pre-alerts of a parcel, oldest first. */
export function lockOpenPrealerts(db: Db, caller: UserCaller, trackingKey: string): Sql {
  return sql`select a.id, a.courier_id, a.user_code, a.tracking_number, a.vendor, a.description, a.status,
      c.first_name, c.last_name
    from prealerts a
    left join customers c on ${ownRows(db, caller, 'c')} and c.tenant_id = a.tenant_id
      and c.courier_id = a.courier_id and c.user_code = a.user_code and c.is_active
    where ${ownRows(db, caller, 'a')} and a.tracking_key = ${trackingKey} and a.status in ('pending', 'flagged')
    order by a.id
    for update of a`;
}

/** The columns of a new package. Numbers are decimal text. */
export type NewPackage = {
  id: string;
  courier_id: string | null;
  user_code: string | null;
  first_name: string | null;
  last_name: string | null;
  tracking_number: string;
  tracking_key: string;
  house_number: string;
  weight_lb: string;
  length_in: string | null;
  width_in: string | null;
  height_in: string | null;
  package_type: string | null;
  shipper: string | null;
  description: string | null;
  carrier_id: string | null;
  warehouse_id: string;
  prealert_id: string | null;
};

/** Returns no row if the tracking key or the house number already exists. */
export function insertPackage(tenantId: string, row: NewPackage): Sql {
  return sql`insert into packages as p (tenant_id, id, courier_id, user_code, first_name, last_name,
      tracking_number, tracking_key, house_number, weight_lb, length_in, width_in, height_in,
      package_type, shipper, description, carrier_id, warehouse_id, prealert_id)
    values (${tenantId}::uuid, ${row.id}::uuid, ${row.courier_id}::uuid, ${row.user_code}, ${row.first_name},
      ${row.last_name}, ${row.tracking_number}, ${row.tracking_key}, ${row.house_number},
      ${row.weight_lb}::numeric, ${row.length_in}::numeric, ${row.width_in}::numeric, ${row.height_in}::numeric,
      ${row.package_type}, ${row.shipper}, ${row.description}, ${row.carrier_id}::uuid,
      ${row.warehouse_id}::uuid, ${row.prealert_id}::uuid)
    on conflict do nothing
    returning ${RECEIPT}`;
}

/**
 * Settles pre-alerts that lockOpenPrealerts has locked. For received ones it also deletes stored flags of the
 * same number.
 */
export function settlePrealerts(
  db: Db,
  caller: UserCaller,
  ids: string[],
  status: 'received' | 'flagged',
): Sql {
  return sql`with settled as (
      update prealerts a set status = ${status}, updated_at = now()
      where ${ownRows(db, caller, 'a')} and a.id = any(${ids}::uuid[]) and a.status in ('pending', 'flagged')
      returning a.tenant_id, a.courier_id, a.tracking_key
    )
    delete from prealert_flags f using settled s
    where ${status} = 'received' and f.tenant_id = s.tenant_id and f.courier_id = s.courier_id
      and f.tracking_key = s.tracking_key`;
}

/** Inserts the first event of a package's history. */
export function insertReceivedEvent(
  caller: UserCaller,
  event: { id: string; packageId: string; courierId: string | null },
): Sql {
  return sql`insert into package_events (tenant_id, id, package_id, courier_id, previous_status, status, actor_user_id,
      source)
    values (${caller.tenantId}::uuid, ${event.id}::uuid, ${event.packageId}::uuid, ${event.courierId}::uuid, null,
      'received', ${caller.userId}::uuid, 'intake')`;
}
