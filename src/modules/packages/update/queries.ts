import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { ColumnsOf, Package, Prealert } from '../../../platform/db/models/types.js';
import { join, once, onceIf, raw, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { isFormerCode, presentCode } from '../../../platform/db/user-codes.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { unsettle } from '../../carrier-tracking/public.js';
import { keyIn, type StoredNumber } from '../../tracking-numbers/public.js';
import { MAX_SETTLED } from '../intake/prealert-queries.js';
import type { StoredColumns } from '../shared/measures.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', ['trackingKey', 'trackingNumber']);
const PREALERT = columns('Prealert', 'a', ['id', 'courierId', 'trackingNumber', 'trackingKey']);

/** The columns that an update may change. */
export type Editable = StoredColumns & ColumnsOf<Pick<Package, 'claimedBy'>>;

export const EDITABLE = sql`p.courier_id, p.user_code, p.first_name, p.last_name, p.tracking_number, p.tracking_key,
  p.weight_lb::text, p.length_in::text, p.width_in::text, p.height_in::text, p.package_type, p.shipper,
  p.description, p.carrier_id, p.warehouse_id, p.prealert_id, p.claimed_by`;

const TYPES: Partial<Record<keyof Editable, string>> = {
  courier_id: 'uuid',
  carrier_id: 'uuid',
  warehouse_id: 'uuid',
  prealert_id: 'uuid',
  claimed_by: 'uuid',
  weight_lb: 'numeric',
  length_in: 'numeric',
  width_in: 'numeric',
  height_in: 'numeric',
};

/** Selects the number of the parcel that an update must lock. It locks nothing. */
export function findNumber(ctx: UserScope, id: string): Sql<StoredNumber> {
  return once`select ${PACKAGE} from packages p
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;
}

/** Selects another package that has one of these keys, or any package that has one of these house numbers. */
export const packageOfNumber = (
  ctx: UserScope,
  id: string,
  keys: string[],
  houseNumbers: string[],
): Sql<Pick<Package, 'id'>> =>
  once`select p.id from packages p
    where ${ownRows(ctx, 'p')} and ((p.tracking_key = any(${keys}::text[]) and p.id <> ${id}::uuid)
      or p.house_number = any(${houseNumbers}::text[]))
    limit 1`;

/** Selects whether scans of stations, or a place that they led to, are stored under one of these keys. */
export const hasScans = (ctx: UserScope, keys: readonly string[]): Sql<{ isScanned: boolean }> =>
  once`select exists (select from scans s where ${tenantRows(ctx, 's')} and s.parcel_key = any(${keys}::text[])
      and s.voided_at is null)
    or exists (select from parcel_positions o where ${tenantRows(ctx, 'o')} and o.parcel_key = any(${keys}::text[]))
    as "isScanned"`;

/**
 * Selects and locks the package. The lock is compatible with foreign key references, which queue_dispatch
 * creates.
 */
export function lockedPackage(ctx: UserScope, id: string): Sql<Editable> {
  return once`select ${EDITABLE} from packages p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid
    for no key update`;
}

/** Selects whether another courier claims the calling courier's package, or has a flagged pre-alert of it. */
export const isDisputed = (id: string, keys: string[]): Sql<{ isDisputed: boolean }> =>
  once`select package_is_disputed(${id}::uuid, ${keys}::text[]) as "isDisputed"`;

/** Selects what the matched pre-alert of a package says of its contents. */
export const findPrealertContents = (
  ctx: UserScope,
  packageId: string,
): Sql<Pick<Prealert, 'vendor' | 'description'>> =>
  once`select a.vendor, a.description from packages p
    join prealerts a on ${ownRows(ctx, 'a')} and a.tenant_id = p.tenant_id and a.id = p.prealert_id
    where ${ownRows(ctx, 'p')} and p.id = ${packageId}::uuid`;

/** Weights in lb, as decimal text, and a sentence that has both. */
export type WeightChange = { before: string; after: string; remarks: string };

/**
 * Appends to the history of a package that its receipt has changed the weight. The status stays, so the event belongs to the intake, and the scans
 * of the parcel are folded without it. It happened when the latest event did, so that it does not delay the events that follow.
 */
export const appendReceiptEvent = (
  { tenantId, caller }: UserScope,
  packageId: string,
  eventId: string,
  { before, after, remarks }: WeightChange,
): Sql =>
  once`insert into package_events (tenant_id, id, package_id, courier_id, previous_status, status, actor_user_id,
      occurred_at, recorded_at, source, remarks, previous_weight_lb, weight_lb)
    select p.tenant_id, ${eventId}::uuid, p.id, p.courier_id, null, p.status, ${caller.userId}::uuid,
      coalesce(latest.occurred_at, statement_timestamp()), statement_timestamp(), 'intake', ${remarks},
      ${before}::numeric, ${after}::numeric
    from packages p
    left join lateral (select e.occurred_at from package_events e where e.tenant_id = p.tenant_id and e.package_id = p.id
      order by e.place desc limit 1) latest on true
    where p.tenant_id = ${tenantId}::uuid and p.id = ${packageId}::uuid`;

/**
 * Selects whether a package must stay at its warehouse: it is on a manifest, or the loading gate of its warehouse is on and that of
 * the other one is off.
 */
export const isWarehouseFixed = (
  ctx: UserScope,
  packageId: string,
  otherId: string,
): Sql<{ isFixed: boolean }> =>
  once`select p.manifest_id is not null or (w.loading_gate and not o.loading_gate) as "isFixed"
    from packages p
    join warehouses w on ${tenantRows(ctx, 'w')} and w.tenant_id = p.tenant_id and w.id = p.warehouse_id
    join warehouses o on ${tenantRows(ctx, 'o')} and o.tenant_id = p.tenant_id and o.id = ${otherId}::uuid
    where ${ownRows(ctx, 'p')} and p.id = ${packageId}::uuid`;

export function changePackage(ctx: UserScope, id: string, changes: Partial<Editable>): Sql {
  // raw() is safe: the keys of Editable and the values of TYPES are literals of this file.
  const assignments = (Object.keys(changes) as (keyof Editable)[]).map(
    (column) => sql`${raw(column)} = ${changes[column]}::${raw(TYPES[column] ?? 'text')}`,
  );
  // Texts of one column are few, and most updates change one. Those of several could fill a connection with plans.
  const tag = onceIf(assignments.length === 1);
  // Only the changed columns, because triggers compare weights and couriers.
  return tag`update packages p set ${join(assignments)}, updated_at = now()
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;
}

export type ReopenedRow = RowOf<typeof PREALERT>;

/** Sets the pre-alerts that the package no longer matches to pending, at most 500: none without a courier. */
export const reopenPrealerts = (ctx: UserScope, courierId: string | null, keys: string[]): Sql<ReopenedRow> =>
  reopen(ctx, keys, sql`a.courier_id = ${courierId}::uuid and a.status = 'received'`);

/** Sets the pre-alerts that scans of the package have flagged to pending, at most 500. */
export const reopenFlagged = (ctx: UserScope, keys: string[]): Sql<ReopenedRow> =>
  reopen(ctx, keys, sql`a.status = 'flagged'`);

/**
 * They have the key of the package. Earlier releases left some with the key of their own number, unless that is the key of another package.
 *
 * @param keys the keys of the package's parcel, its own first
 */
const reopen = (ctx: UserScope, keys: string[], which: Sql): Sql<ReopenedRow> =>
  once`with found as (
      select a.tenant_id, a.id from prealerts a
      where ${ownRows(ctx, 'a')} and ${which} and ${keyIn('a', keys)} and (a.tracking_key = ${keys[0]} or not exists (
        select from packages p where ${tenantRows(ctx, 'p')} and p.tracking_key = a.tracking_key))
      order by a.id limit ${MAX_SETTLED}::int for update
    ), heard as (
      ${unsettle(
        ctx,
        sql`select a.courier_id, own.key from found join prealerts a on a.tenant_id = found.tenant_id and a.id = found.id
        cross join lateral (values (a.tracking_key), (a.announced_key)) as own (key)`,
      )}
    )
    update prealerts a set status = 'pending', updated_at = now()
    from found where a.tenant_id = found.tenant_id and a.id = found.id
    returning ${PREALERT}`;

/** Selects and locks the open pre-alerts with the key of the package, at most 500. */
export const openWithKey = (ctx: UserScope, key: string): Sql<ReopenedRow> =>
  once`select ${PREALERT} from prealerts a
    where ${ownRows(ctx, 'a')} and a.tracking_key = ${key} and a.status in ('pending', 'flagged')
    order by a.id limit ${MAX_SETTLED}::int for update`;

/** Selects which of these codes the customer has now whose former code the package has. */
export const presentCodeOfPackage = (
  ctx: UserScope,
  packageId: string,
  codes: string[],
): Sql<{ userCode: string }> =>
  once`select own.code as "userCode" from packages p cross join unnest(${codes}::text[]) as own (code)
    where ${ownRows(ctx, 'p')} and p.id = ${packageId}::uuid and ${isFormerCode('p', sql`own.code`)} limit 1`;

/** Gives pre-alerts the keys of their own numbers. They had that of the package. */
export const restoreKeys = (ctx: UserScope, prealerts: { id: string; key: string }[]): Sql =>
  once`update prealerts a set tracking_key = own.key
    from jsonb_to_recordset(${JSON.stringify(prealerts)}::jsonb) as own (id uuid, key text)
    where ${ownRows(ctx, 'a')} and a.id = own.id`;

/** Marks the courier's pending pre-alerts of a parcel for the given customer as received, at most 500, with the package's key. */
export function receivePendingPrealerts(
  ctx: UserScope,
  { courier_id, tracking_key, user_code }: Editable,
  keys: string[],
): Sql<ReopenedRow> {
  return once`with found as (
      select a.tenant_id, a.id from prealerts a
      where ${ownRows(ctx, 'a')} and a.courier_id = ${courier_id}::uuid and ${keyIn('a', keys)}
        and ${presentCode('a')} = ${user_code} and a.status = 'pending'
      order by a.id limit ${MAX_SETTLED}::int for update
    )
    update prealerts a set status = 'received', tracking_key = ${tracking_key}, updated_at = now()
    from found where a.tenant_id = found.tenant_id and a.id = found.id
    returning ${PREALERT}`;
}
