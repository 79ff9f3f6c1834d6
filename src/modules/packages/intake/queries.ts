import type { UserContext } from '../../../platform/context/request-context.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { ColumnsOf, Package, Prealert } from '../../../platform/db/models/types.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { PackageStatus } from '../events/transitions.js';
import type { Measures } from '../shared/measures.js';
import type { Customer, OpenPrealert } from './ownership.js';

export type ReceiptRow = Pick<Package, 'id' | 'houseNumber' | 'courierId' | 'userCode' | 'prealertId'> & {
  status: PackageStatus;
  /** ISO 8601, in UTC. */
  receivedAt: string;
};

// The time is selected as text, because Prisma's adapter drops the offset of a timestamptz, which shifts the time
// in a session that is not in UTC.
const RECEIPT = sql`p.id, p.house_number as "houseNumber", p.status, p.courier_id as "courierId",
  p.user_code as "userCode", p.prealert_id as "prealertId",
  to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "receivedAt"`;

/** The package that an earlier scan stored, and the state of its pre-alerts. */
export type EarlierRow = ReceiptRow & {
  /** A pre-alert of the tracking number is flagged. */
  isFlagged: boolean;
  /** A pending pre-alert names a different owner than the package has. */
  isDisputed: boolean;
};

export function findReceipt(ctx: UserContext, trackingKey: string): Sql<EarlierRow> {
  return sql`select ${RECEIPT}, coalesce(announced.is_flagged, false) as "isFlagged",
      coalesce(announced.is_disputed, false) as "isDisputed"
    from packages p
    cross join lateral (
      select bool_or(a.status = 'flagged') as is_flagged, bool_or(a.status = 'pending' and ${disagrees}) as is_disputed
      from prealerts a
      where ${ownRows(ctx, 'a')} and a.tenant_id = p.tenant_id and a.tracking_key = p.tracking_key
    ) as announced
    where ${ownRows(ctx, 'p')} and p.tracking_key = ${trackingKey}`;
}

/**
 * Whether a pre-alert `a` names a different owner than the package `p`. A package without an owner never
 * disagrees.
 */
const disagrees = sql`(a.courier_id <> p.courier_id or a.user_code <> p.user_code)`;

/** Flags the pending pre-alerts that name a different owner than the package. */
export function flagDisputes(ctx: UserContext, packageId: string): Sql<Pick<Prealert, 'id'>> {
  return sql`with found as (
      select a.tenant_id, a.id
      from packages p
      join prealerts a on ${ownRows(ctx, 'a')} and a.tenant_id = p.tenant_id and a.tracking_key = p.tracking_key
      where ${ownRows(ctx, 'p')} and p.id = ${packageId}::uuid and a.status = 'pending' and ${disagrees}
      order by a.id for update of a
    )
    update prealerts a set status = 'flagged', updated_at = now()
    from found where a.tenant_id = found.tenant_id and a.id = found.id
    returning a.id`;
}

export type ReferencedIds = {
  courierId: string | null;
  carrierId: string | null;
  warehouseId: string | null;
};

/**
 * Selects the ids of the records that the body refers to. An id is null if the record does not exist or was
 * not given. Without a warehouse in the body, selects the primary warehouse.
 */
export function findReferencedIds(
  ctx: UserContext,
  named: { [Name in keyof ReferencedIds]: string | undefined },
): Sql<ReferencedIds> {
  const warehouse = named.warehouseId ? sql`w.id = ${named.warehouseId}::uuid` : sql`w.is_primary`;
  return sql`select
    (select c.id from couriers c
      where ${tenantRows(ctx, 'c')} and c.id = ${named.courierId ?? null}::uuid) as "courierId",
    (select r.id from carriers r
      where ${tenantRows(ctx, 'r')} and r.id = ${named.carrierId ?? null}::uuid) as "carrierId",
    (select w.id from warehouses w where ${tenantRows(ctx, 'w')} and ${warehouse}) as "warehouseId"`;
}

/** Selects the active customers with a user code, at most two: two are enough to detect an ambiguous code. */
export function findCustomers(ctx: UserContext, userCode: string, courierId: string | null): Sql<Customer> {
  return sql`select c.courier_id as "courierId", c.user_code as "userCode", c.first_name as "firstName",
      c.last_name as "lastName"
    from customers c
    where ${ownRows(ctx, 'c')} and c.user_code = ${userCode} and c.is_active
      and (${courierId}::uuid is null or c.courier_id = ${courierId}::uuid)
    limit 2`;
}

/** A pre-alert with the names of its customer, which are null without an active customer. */
export type OpenPrealertRow = Omit<OpenPrealert, 'customer'> & {
  firstName: string | null;
  lastName: string | null;
};

/** Selects and locks the open pre-alerts of a parcel, oldest first. */
export function lockedOpenPrealerts(ctx: UserContext, trackingKey: string): Sql<OpenPrealertRow> {
  return sql`select a.id, a.courier_id as "courierId", a.user_code as "userCode", a.tracking_number as "trackingNumber",
      a.vendor, a.description, a.status, c.first_name as "firstName", c.last_name as "lastName"
    from prealerts a
    left join customers c on ${ownRows(ctx, 'c')} and c.tenant_id = a.tenant_id
      and c.courier_id = a.courier_id and c.user_code = a.user_code and c.is_active
    where ${ownRows(ctx, 'a')} and a.tracking_key = ${trackingKey} and a.status in ('pending', 'flagged')
    order by a.id
    for update of a`;
}

/** The columns of a new package, as the audit trail records them. Numbers are decimal text. */
export type NewPackage = Measures &
  ColumnsOf<
    Pick<
      Package,
      | 'id'
      | 'courierId'
      | 'userCode'
      | 'firstName'
      | 'lastName'
      | 'trackingNumber'
      | 'trackingKey'
      | 'houseNumber'
      | 'packageType'
      | 'shipper'
      | 'description'
      | 'carrierId'
      | 'warehouseId'
      | 'prealertId'
    >
  >;

/** Returns no row if the tracking key or the house number already exists. */
export function insertPackage({ tenantId }: UserContext, row: NewPackage): Sql<ReceiptRow> {
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
 * Settles pre-alerts that lockedOpenPrealerts has locked. For received ones it also deletes stored flags of the
 * same number.
 */
export function settlePrealerts(ctx: UserContext, ids: string[], status: 'received' | 'flagged'): Sql {
  return sql`with settled as (
      update prealerts a set status = ${status}, updated_at = now()
      where ${ownRows(ctx, 'a')} and a.id = any(${ids}::uuid[]) and a.status in ('pending', 'flagged')
      returning a.tenant_id, a.courier_id, a.tracking_key
    )
    delete from prealert_flags f using settled s
    where ${status} = 'received' and f.tenant_id = s.tenant_id and f.courier_id = s.courier_id
      and f.tracking_key = s.tracking_key`;
}

/** Inserts the first event of a package's history. */
export function insertReceivedEvent(
  { tenantId, caller }: UserContext,
  event: { id: string; packageId: string; courierId: string | null },
): Sql {
  return sql`insert into package_events (tenant_id, id, package_id, courier_id, previous_status, status, actor_user_id,
      source)
    values (${tenantId}::uuid, ${event.id}::uuid, ${event.packageId}::uuid, ${event.courierId}::uuid, null,
      'received', ${caller.userId}::uuid, 'intake')`;
}
