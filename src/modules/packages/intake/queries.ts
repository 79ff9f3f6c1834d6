import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { ColumnsOf, Package, Scan } from '../../../platform/db/models/types.js';
import { once, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { keyIn, orderedByKey } from '../../tracking-numbers/public.js';
import type { PackageStatus } from '../events/transitions.js';
import type { StoredColumns } from '../shared/measures.js';
import type { Customer } from './ownership.js';
import { disagrees } from './prealert-queries.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', [
  'id',
  'houseNumber',
  'trackingKey',
  'status',
  'courierId',
  'userCode',
  'prealertId',
]);

export type ReceiptRow = RowOf<typeof PACKAGE> & {
  status: PackageStatus;
  /** ISO 8601, in UTC. */
  receivedAt: string;
};

// The time is selected as text, because Prisma's adapter drops the offset of a timestamptz, which shifts the time
// in a session that is not in UTC.
const RECEIPT = sql`${PACKAGE},
  to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "receivedAt"`;

/** The package that an earlier scan stored, and the state of its pre-alerts. */
export type EarlierRow = ReceiptRow & {
  /** A pre-alert of the tracking number is flagged. */
  isFlagged: boolean;
  /** A pending pre-alert names a different owner than the package has. */
  isDisputed: boolean;
  /** A scan of a station waits for the receipt. Earlier versions of the service could give a package the number and leave the scan. */
  isAwaited: boolean;
};

/** Selects the packages that have keys of a parcel, at most two, in the order of the keys. Two tell that it is open which is meant. */
export const findReceipts = (ctx: UserScope, keys: string[]): Sql<EarlierRow> =>
  selectReceipt(ctx, keys, sql`${keyIn('p', keys)} ${orderedByKey('p', keys)} limit 2`);

/** Selects one package by its id, with the state of its pre-alerts. `keys`: those of its parcel. */
export const findReceiptOfPackage = (ctx: UserScope, id: string, keys: string[]): Sql<EarlierRow> =>
  selectReceipt(ctx, keys, sql`p.id = ${id}::uuid`);

function selectReceipt(ctx: UserScope, keys: string[], condition: Sql): Sql<EarlierRow> {
  return once`select ${RECEIPT}, coalesce(announced.is_flagged, false) as "isFlagged",
      coalesce(announced.is_disputed, false) as "isDisputed",
      exists (select from scans s where ${tenantRows(ctx, 's')} and s.parcel_key = any(${keys}::text[])
        and s.reason = 'not_received' and s.voided_at is null) as "isAwaited"
    from packages p
    cross join lateral (
      select bool_or(a.status = 'flagged') as is_flagged, bool_or(a.status = 'pending' and ${disagrees}) as is_disputed
      from prealerts a
      where ${ownRows(ctx, 'a')} and a.tenant_id = p.tenant_id and ${keyIn('a', keys)}
    ) as announced
    where ${ownRows(ctx, 'p')} and ${condition}`;
}

/** Selects one scan of a station that arrived before the parcel was received (decision 0061). */
export const findWaitingScan = (ctx: UserScope, keys: string[]): Sql<Pick<Scan, 'id'>> =>
  once`select s.id from scans s where ${tenantRows(ctx, 's')} and s.parcel_key = any(${keys}::text[])
      and s.voided_at is null limit 1`;

/** The records that an intake names. */
export type NamedRecords = {
  courierId?: string | undefined;
  carrierId?: string | undefined;
  warehouseId?: string | undefined;
  userCode?: string | undefined;
};

export type FoundRecords = {
  courierId: string | null;
  carrierId: string | null;
  warehouseId: string | null;
  /** The active customers with the user code, at most two: two are enough to detect an ambiguous code. */
  customers: Customer[];
};

/**
 * Selects the records that intakes name, a row for each intake, in their order. An id is null if the record does not exist or was
 * not named. Where no warehouse is named, selects the primary one. Carriers and warehouses cannot be deleted until the
 * transaction ends; couriers never can.
 */
export function findNamedRecords(ctx: UserScope, intakes: readonly NamedRecords[]): Sql<FoundRecords> {
  // The subquery finds the primary one without a lock, and only the row with its id is locked. If `is_primary` were a condition of the
  // locked row, a lock that waits until another warehouse is the primary one would return no row at all.
  const primary = sql`(select o.id from warehouses o where ${tenantRows(ctx, 'o')} and o.is_primary)`;
  // Each courier is looked up, because the index of user codes begins with the courier.
  return once`select
    (select c.id from couriers c where ${tenantRows(ctx, 'c')} and c.id = named."courierId") as "courierId",
    (select r.id from carriers r
      where ${tenantRows(ctx, 'r')} and r.id = named."carrierId" for key share) as "carrierId",
    (select w.id from warehouses w
      where ${tenantRows(ctx, 'w')} and w.id = coalesce(named."warehouseId", ${primary}) for key share) as "warehouseId",
    (select coalesce(jsonb_agg(jsonb_build_object('courierId', c.courier_id, 'userCode', c.user_code,
        'firstName', c.first_name, 'lastName', c.last_name)), '[]')
      from (
        select c.* from couriers r join customers c on c.tenant_id = r.tenant_id and c.courier_id = r.id
        where ${tenantRows(ctx, 'r')} and r.id = coalesce(named."courierId", r.id)
          and ${ownRows(ctx, 'c')} and c.user_code = named."userCode" and c.is_active
        limit 2
      ) as c) as customers
    from rows from (jsonb_to_recordset(${JSON.stringify(intakes)}::jsonb)
        as ("courierId" uuid, "carrierId" uuid, "warehouseId" uuid, "userCode" text)) with ordinality as named
    order by named.ordinality`;
}

/**
 * Selects the active customers with a user code, at most two: two are enough to detect an ambiguous code. Without a courier it
 * looks the code up for each courier of the tenant, because the index of user codes begins with the courier.
 */
export function findCustomers(
  ctx: UserScope,
  userCode: string | null,
  courierId: string | null,
): Sql<Customer> {
  const [from, scope] =
    courierId === null
      ? [
          sql`couriers r join customers c on c.tenant_id = r.tenant_id and c.courier_id = r.id`,
          tenantRows(ctx, 'r'),
        ]
      : [sql`customers c`, sql`c.courier_id = ${courierId}::uuid`];
  return once`select c.courier_id as "courierId", c.user_code as "userCode", c.first_name as "firstName",
      c.last_name as "lastName"
    from ${from}
    where ${ownRows(ctx, 'c')} and c.user_code = ${userCode} and c.is_active and ${scope}
    limit 2`;
}

/** The columns of a new package. */
export type NewPackage = StoredColumns & ColumnsOf<Pick<Package, 'id' | 'houseNumber'>>;

/**
 * Inserts a package and the first event of its history. Inserts nothing and returns no row if the tracking key or
 * the house number already exists.
 */
export function insertReceivedPackage(
  { tenantId, caller }: UserScope,
  row: NewPackage,
  eventId: string,
): Sql<ReceiptRow> {
  return once`with received as (
      insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name,
        tracking_number, tracking_key, house_number, weight_lb, length_in, width_in, height_in,
        package_type, shipper, description, carrier_id, warehouse_id, prealert_id)
      values (${tenantId}::uuid, ${row.id}::uuid, ${row.courier_id}::uuid, ${row.user_code}, ${row.first_name},
        ${row.last_name}, ${row.tracking_number}, ${row.tracking_key}, ${row.house_number},
        ${row.weight_lb}::numeric, ${row.length_in}::numeric, ${row.width_in}::numeric, ${row.height_in}::numeric,
        ${row.package_type}, ${row.shipper}, ${row.description}, ${row.carrier_id}::uuid,
        ${row.warehouse_id}::uuid, ${row.prealert_id}::uuid)
      on conflict do nothing
      returning tenant_id, id, house_number, tracking_key, status, courier_id, user_code, prealert_id, received_at
    ), event as (
      insert into package_events (tenant_id, id, package_id, courier_id, previous_status, status, actor_user_id, source)
      select tenant_id, ${eventId}::uuid, id, courier_id, null, 'received', ${caller.userId}::uuid, 'intake'
      from received
    )
    select ${RECEIPT} from received p`;
}
