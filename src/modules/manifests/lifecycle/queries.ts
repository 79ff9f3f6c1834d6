import { tenantRows } from '../../../platform/db/filters.js';
import type { Airline, Manifest, Warehouse } from '../../../platform/db/models/types.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import { isGatedByWarehouse } from '../../scans/public.js';
import type { ManifestFields } from './fields.js';
import type { ManifestStatus } from '../../../platform/contract/types.js';
import type { UserScope } from '../../../platform/db/scope.js';

/** Columns are named as in the audit trail. */
export type ManifestRow = ManifestFields & {
  id: Manifest['id'];
  manifest_number: Manifest['manifestNumber'];
  status: ManifestStatus;
  /** Not a column: whether the gate of its warehouse, or of a warehouse of its packages, is on. */
  isWarehouseGated: boolean;
};

/**
 * Locks a manifest until the end of the transaction. Every change of a manifest or its packages takes this lock first, so that no
 * package is added between a check and the change that relies on it.
 */
export const lockedManifest = (ctx: UserScope, id: string): Sql<Pick<ManifestRow, 'id' | 'status'>> => once`
  select m.id, m.status from manifests m
  where ${tenantRows(ctx, 'm')} and m.id = ${id}::uuid
  for update`;

/**
 * Selects a locked manifest. Not in the statement that locks it: after a wait, that one still sees the packages and warehouses as they
 * were before.
 */
export const findManifest = (ctx: UserScope, id: string): Sql<ManifestRow> => once`
  select m.id, m.manifest_number, m.status, m.awb_number, m.airline_prefix,
    to_char(m.flight_date, 'YYYY-MM-DD') as flight_date, m.flight_number, m.notes, m.loading_gate,
    ${isGatedByWarehouse(ctx)} as "isWarehouseGated"
  from manifests m
  where ${tenantRows(ctx, 'm')} and m.id = ${id}::uuid`;

/** Writes all columns of a locked manifest, if its status is still the previous one. */
export const changeManifest = (
  ctx: UserScope,
  previous: ManifestStatus,
  after: ManifestRow,
): Sql<Pick<Manifest, 'id'>> => once`
  update manifests m set status = ${after.status}, awb_number = ${after.awb_number},
    airline_prefix = ${after.airline_prefix}, flight_date = ${after.flight_date}::date,
    flight_number = ${after.flight_number}, notes = ${after.notes}, loading_gate = ${after.loading_gate},
    updated_at = now()
  where ${tenantRows(ctx, 'm')} and m.id = ${after.id}::uuid and m.status = ${previous}
  returning m.id`;

/** Why a manifest is shipped although its load is open, and how much is open. */
export type GateOverride = { reason: string; missing: number; extra: number };

export const storeOverride = (
  ctx: UserScope,
  manifestId: string,
  { reason, missing, extra }: GateOverride,
): Sql => once`
  update manifests m set override_reason = ${reason}, overridden_at = now(), overridden_by = ${ctx.caller.userId}::uuid,
    override_missing = ${missing}, override_extra = ${extra}
  where ${tenantRows(ctx, 'm')} and m.id = ${manifestId}::uuid`;

export const removeManifest = (ctx: UserScope, id: string): Sql => once`
  delete from manifests m where ${tenantRows(ctx, 'm')} and m.id = ${id}::uuid`;

/** Selects the warehouse, or the primary one if no id is given. */
export const findWarehouse = (ctx: UserScope, id: string | undefined): Sql<Pick<Warehouse, 'id'>> => once`
  select w.id from warehouses w
  where ${tenantRows(ctx, 'w')} and ${id === undefined ? sql`w.is_primary` : sql`w.id = ${id}::uuid`}`;

/** Selects the airline of a prefix; none for null. */
export const findAirline = (ctx: UserScope, prefix: string | null): Sql<Pick<Airline, 'name'>> => once`
  select a.name from airlines a where ${tenantRows(ctx, 'a')} and a.prefix = ${prefix}`;

export type NewManifest = ManifestFields & { id: string; suffix: string; warehouse_id: string };

/**
 * Stores a draft with today's date and returns its number, or no row if the number is already in use. SQL, because the
 * number contains the database's date and a conflict must not end the transaction.
 */
export const insertManifest = (
  { tenantId }: UserScope,
  draft: NewManifest,
): Sql<Pick<Manifest, 'manifestNumber'>> => once`
  insert into manifests (tenant_id, id, manifest_number, awb_number, airline_prefix, flight_date, flight_number,
    notes, warehouse_id)
  values (${tenantId}::uuid, ${draft.id}::uuid,
    'MAN-' || to_char(now() at time zone 'UTC', 'YYYYMMDD') || '-' || ${draft.suffix}::text,
    ${draft.awb_number}, ${draft.airline_prefix}, ${draft.flight_date}::date, ${draft.flight_number},
    ${draft.notes}, ${draft.warehouse_id}::uuid)
  on conflict (tenant_id, manifest_number) do nothing
  returning manifest_number as "manifestNumber"`;
