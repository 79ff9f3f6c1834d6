import type { ManifestStatus } from '../../../platform/contract/types.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { ParcelPosition, Scan } from '../../../platform/db/models/types.js';
import { join, once, sql, type OrNull, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { PackageStatus } from '../../packages/public.js';
import type { ConflictReason } from '../fold/fold.js';
import { HELD, type ExtraReason } from '../fold/extra-reason.js';
import { columns } from '../../../platform/db/columns.js';

const MANIFEST = columns('Manifest', 'm', [
  'id',
  'manifestNumber',
  'status',
  'overrideReason',
  'overriddenAt',
  'overrideMissing',
  'overrideExtra',
]);
const OVERRIDER = columns('User', 'u', { overriddenBy: 'fullName' });
const COURIER = columns('Courier', 'c', { courierName: 'name' });
const MANIFEST_NUMBER = columns('Manifest', 'm', ['manifestNumber']);
const PARCEL = columns('Package', 'p', {
  packageId: 'id',
  houseNumber: 'houseNumber',
  status: 'status',
  userCode: 'userCode',
});
const SCANNER = columns('User', 'u', { userName: 'fullName' });
const SCANNED_PACKAGE = columns('Package', 'p', { packageId: 'id', houseNumber: 'houseNumber' });

export type LoadedManifestRow = RowOf<typeof MANIFEST> & {
  status: ManifestStatus;
  isGated: boolean;
  overriddenBy: string | null;
};

/**
 * Whether the gate of the manifest's warehouse, or of the warehouse of one of its packages, is on. Otherwise a manifest of another
 * warehouse would ship the packages of a gated one without scans. `m` is the manifest.
 */
export const isGatedByWarehouse = (ctx: UserScope): Sql =>
  sql`exists (select from warehouses w where ${tenantRows(ctx, 'w')} and w.tenant_id = m.tenant_id and w.loading_gate
    and (w.id = m.warehouse_id or exists (select from packages p where ${tenantRows(ctx, 'p')}
      and p.tenant_id = m.tenant_id and p.manifest_id = m.id and p.warehouse_id = w.id)))`;

/** Selects a manifest, whether its gate is on, and its override. */
export const findManifest = (ctx: UserScope, id: string): Sql<LoadedManifestRow> =>
  sql`select ${MANIFEST},
      m.loading_gate = 'on' or (m.loading_gate = 'warehouse' and ${isGatedByWarehouse(ctx)}) as "isGated", ${OVERRIDER}
    from manifests m
    left join users u on ${tenantRows(ctx, 'u')} and u.tenant_id = m.tenant_id and u.id = m.overridden_by
    where ${tenantRows(ctx, 'm')} and m.id = ${id}::uuid`;

const isHeld = sql`p.status in (${join([...HELD])})`;
const isLoaded = sql`o.manifest_id is not distinct from p.manifest_id`;

/** The packages of a manifest that may be loaded, with their positions. */
const expected = (ctx: UserScope, id: string): Sql =>
  sql`from packages p
    left join parcel_positions o on ${tenantRows(ctx, 'o')} and o.tenant_id = p.tenant_id and o.parcel_key = p.tracking_key
    where ${tenantRows(ctx, 'p')} and p.manifest_id = ${id}::uuid and not ${isHeld}`;

/** The parcels that were loaded for a manifest and must be taken off. `whyExtra` has the same rule. */
const extra = (ctx: UserScope, id: string): Sql =>
  sql`from parcel_positions o
    left join packages p on ${tenantRows(ctx, 'p')} and p.tenant_id = o.tenant_id and p.tracking_key = o.parcel_key
    where ${tenantRows(ctx, 'o')} and o.manifest_id = ${id}::uuid
      and (p.id is null or ${isHeld} or p.manifest_id is distinct from o.manifest_id)`;

const extraReason = (ctx: UserScope): Sql =>
  sql`case when p.id is null then 'unknown' when ${isHeld} then 'on_hold'
    when p.manifest_id is not null then 'other_manifest'
    when exists (select from packages other where ${tenantRows(ctx, 'other')} and other.tenant_id = o.tenant_id
      and other.manifest_id = o.manifest_id and other.courier_id = p.courier_id) then 'not_assigned'
    else 'other_courier' end`;

export type CountsRow = { expected: number; loaded: number; missing: number; extra: number };

export const countLoad = (ctx: UserScope, id: string): Sql<CountsRow> =>
  sql`select e.expected, e.loaded, e.expected - e.loaded as missing, (select count(*)::int ${extra(ctx, id)}) as extra
    from (select count(*)::int as expected, (count(*) filter (where ${isLoaded}))::int as loaded
      ${expected(ctx, id)}) as e`;

/** Selects at most `limit` of the parcels that are loaded for a manifest, whatever they are, and the number of all. */
export const allLoaded = (
  ctx: UserScope,
  id: string,
  limit: number,
): Sql<{ trackingNumber: string; total: number }> =>
  once`select coalesce(p.tracking_number, o.scan) as "trackingNumber", (count(*) over ())::int as total
    from parcel_positions o
    left join packages p on ${tenantRows(ctx, 'p')} and p.tenant_id = o.tenant_id and p.tracking_key = o.parcel_key
    where ${tenantRows(ctx, 'o')} and o.manifest_id = ${id}::uuid
    order by o.parcel_key limit ${limit}::int`;

export type ParcelRow = OrNull<RowOf<typeof PARCEL> & RowOf<typeof COURIER> & RowOf<typeof MANIFEST_NUMBER>> &
  Pick<ParcelPosition, 'location' | 'loadedAt' | 'station'> & {
    trackingNumber: string;
    status: PackageStatus | null;
    isLoaded: boolean;
    reason: ExtraReason | null;
  };

export type ParcelList = 'expected' | 'loaded' | 'missing' | 'extra';
export type Page = { limit: number; offset: number };

/** Selects one page of a list, in the order of tracking keys. */
export function loadedParcels(
  ctx: UserScope,
  id: string,
  list: ParcelList,
  { limit, offset }: Page,
): Sql<ParcelRow> {
  return sql`with listed as (${listed(ctx, id, list)} order by 1 limit ${limit}::int offset ${offset}::int)
    select l."packageId", l."trackingNumber", l."houseNumber", l.status, ${COURIER}, l."userCode",
      l.location, l."isLoaded", case when l."isLoaded" then l.loaded_at end as "loadedAt",
      case when l."isLoaded" then l.station end as station, l.reason, ${MANIFEST_NUMBER}
    from listed l
    left join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = l.tenant_id and c.id = l.courier_id
    left join manifests m on ${tenantRows(ctx, 'm')} and m.tenant_id = l.tenant_id and m.id = l.manifest_id
    order by l.key`;
}

const SHOWN = sql`${PARCEL}, coalesce(p.tracking_number, o.scan) as "trackingNumber", p.courier_id, p.manifest_id,
  o.location, o.loaded_at, o.station`;

function listed(ctx: UserScope, id: string, list: ParcelList): Sql {
  if (list === 'extra')
    return sql`select o.parcel_key as key, o.tenant_id, ${SHOWN}, true as "isLoaded", ${extraReason(ctx)} as reason
      ${extra(ctx, id)}`;
  const expectedOnes = sql`select p.tracking_key as key, p.tenant_id, ${SHOWN}, ${isLoaded} as "isLoaded",
      null::text as reason ${expected(ctx, id)}`;
  switch (list) {
    case 'expected':
      return expectedOnes;
    case 'loaded':
      return sql`${expectedOnes} and ${isLoaded}`;
    case 'missing':
      return sql`${expectedOnes} and not ${isLoaded}`;
  }
}

export type HistoryRow = Pick<Scan, 'scannedAt' | 'arrivedAt'> &
  OrNull<Pick<Scan, 'station' | 'scan'> & RowOf<typeof SCANNER> & RowOf<typeof SCANNED_PACKAGE>> & {
    scanId: string | null;
    kind: 'load' | 'unload' | 'override';
    outcome: 'done' | 'conflict';
    reason: ConflictReason | null;
    remarks: string | null;
  };

/** The load scans of a manifest, and its override. */
const history = (ctx: UserScope, id: string): Sql =>
  sql`select s.tenant_id, s.id as scan_id, s.kind, s.scanned_at, s.arrived_at, s.station, s.user_id, s.scan,
      s.parcel_key, s.outcome, s.reason, null::text as remarks
    from scans s where ${tenantRows(ctx, 's')} and s.manifest_id = ${id}::uuid
    union all
    select m.tenant_id, null, 'override', m.overridden_at, m.overridden_at, null, m.overridden_by, null, null, 'done', null,
      m.override_reason
    from manifests m where ${tenantRows(ctx, 'm')} and m.id = ${id}::uuid and m.overridden_at is not null`;

export const countHistory = (ctx: UserScope, id: string): Sql<{ total: number }> =>
  sql`select count(*)::int as total from (${history(ctx, id)}) as h`;

/** Selects one page of the history, newest first. */
export const loadHistory = (ctx: UserScope, id: string, { limit, offset }: Page): Sql<HistoryRow> =>
  sql`with h as (${history(ctx, id)} order by scanned_at desc, scan_id desc limit ${limit}::int offset ${offset}::int)
    select h.scan_id as "scanId", h.kind, h.scanned_at as "scannedAt", h.arrived_at as "arrivedAt", h.station,
      ${SCANNER}, h.scan, ${SCANNED_PACKAGE}, h.outcome, h.reason, h.remarks
    from h
    left join users u on ${tenantRows(ctx, 'u')} and u.tenant_id = h.tenant_id and u.id = h.user_id
    left join packages p on ${tenantRows(ctx, 'p')} and p.tenant_id = h.tenant_id and p.tracking_key = h.parcel_key
    order by h.scanned_at desc, h.scan_id desc`;
