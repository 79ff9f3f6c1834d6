import type { ManifestStatus } from '../../../../platform/contract/types.js';
import { tenantRows } from '../../../../platform/db/filters.js';
import { once, raw, sql, type RowOf, type Sql } from '../../../../platform/db/statements.js';
import type { UserScope } from '../../../../platform/db/scope.js';
import type { PackageStatus } from '../../../packages/public.js';
import { keyInColumn } from '../../../tracking-numbers/public.js';
import type { ConflictReason, ScanKind } from '../../fold/fold.js';
import type { Details } from '../messages/read-scans.js';
import { columns } from '../../../../platform/db/columns.js';

const LOCKED_MANIFEST = columns('Manifest', 'm', ['id', 'manifestNumber', 'status']);
const KNOWN_SCAN = columns('Scan', 's', ['id', 'contentHash', 'parcelKey', 'reason', 'voidedAt']);
const STORED_SCAN = columns('Scan', 's', [
  'id',
  'station',
  'kind',
  'parcelKey',
  'scan',
  'userId',
  'details',
  'manifestId',
  'isAdmitted',
  'eventId',
  'outcome',
  'reason',
]);
const LOCKED_PACKAGE = columns('Package', 'p', [
  'id',
  'trackingKey',
  'trackingNumber',
  'status',
  'courierId',
  'manifestId',
]);
const PACKAGE_EVENT = columns('PackageEvent', 'e', ['id', 'packageId', 'previousStatus', 'status']);
const ABOARD = columns('Package', 'p', ['manifestId', 'courierId']);
const PARCEL_POSITION = columns('ParcelPosition', 'o', [
  'parcelKey',
  'scan',
  'location',
  'manifestId',
  'station',
]);
const PACKAGE = columns('Package', 'p', [
  'id',
  'trackingKey',
  'trackingNumber',
  'houseNumber',
  'status',
  'courierId',
  'userCode',
  'manifestId',
  'weightLb',
]);
const USER = columns('User', 'u', ['id', 'fullName']);
const COURIER = columns('Courier', 'c', { courierName: 'name' });
const MANIFEST = columns('Manifest', 'm', ['manifestNumber']);

/** The time as ISO 8601, in UTC with milliseconds. */
const iso = (time: string): Sql =>
  sql`to_char(${raw(time)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const serverTime = (): Sql<{ now: string }> => once`select ${iso('clock_timestamp()')} as now`;

export type ManifestRow = RowOf<typeof LOCKED_MANIFEST> & { status: ManifestStatus };

/** Selects the manifests of new loads, and keeps them from being shipped until the transaction ends. */
export const lockedManifests = (ctx: UserScope, ids: string[], numbers: string[]): Sql<ManifestRow> =>
  once`select ${LOCKED_MANIFEST} from manifests m
    where ${tenantRows(ctx, 'm')} and (m.id = any(${ids}::uuid[]) or m.manifest_number = any(${numbers}::text[]))
    order by m.id for share`;

/** Selects manifests of earlier loads. */
export const manifestStatuses = (ctx: UserScope, ids: string[]): Sql<Omit<ManifestRow, 'manifestNumber'>> =>
  once`select m.id, m.status from manifests m where ${tenantRows(ctx, 'm')} and m.id = any(${ids}::uuid[])`;

export type KnownScan = RowOf<typeof KNOWN_SCAN> & { reason: ConflictReason | null };

export const scansById = (ctx: UserScope, ids: string[]): Sql<KnownScan> =>
  once`select ${KNOWN_SCAN} from scans s
    where ${tenantRows(ctx, 's')} and s.id = any(${ids}::uuid[])`;

export type StoredScan = RowOf<typeof STORED_SCAN> & {
  kind: ScanKind;
  scannedAt: string;
  arrivedAt: string;
  details: Details;
  outcome: 'done' | 'conflict';
  reason: ConflictReason | null;
};

/** Counts the stored scans of parcels, at most `limit` for each key. */
export const countScans = (
  ctx: UserScope,
  keys: readonly string[],
  limit: number,
): Sql<{ parcelKey: string; count: number }> =>
  once`select k.key as "parcelKey", count(*)::int as count
    from unnest(${keys}::text[]) as k (key)
    cross join lateral (
      select from scans s where ${tenantRows(ctx, 's')} and s.parcel_key = k.key and s.voided_at is null limit ${limit}::int
    ) as stored
    group by k.key`;

/** Selects those of the keys that a package has. */
export const packageKeys = (ctx: UserScope, keys: readonly string[]): Sql<{ trackingKey: string }> =>
  once`select p.tracking_key as "trackingKey" from packages p
    where ${tenantRows(ctx, 'p')} and p.tracking_key = any(${keys}::text[])`;

/** Selects the newest scans of parcels, at most `limit` for each key. */
export const scansOfParcels = (ctx: UserScope, keys: readonly string[], limit: number): Sql<StoredScan> =>
  once`select ${STORED_SCAN}, ${iso('s.scanned_at')} as "scannedAt", ${iso('s.arrived_at')} as "arrivedAt"
    from unnest(${keys}::text[]) as k (key)
    cross join lateral (
      select * from scans s where ${tenantRows(ctx, 's')} and s.parcel_key = k.key and s.voided_at is null
      order by s.scanned_at desc, s.id desc limit ${limit}::int
    ) as s`;

export type PackageRow = RowOf<typeof LOCKED_PACKAGE> & { status: PackageStatus };

/** Locks the packages of parcels. */
export const lockedPackages = (ctx: UserScope, keys: readonly string[]): Sql<PackageRow> =>
  once`select ${LOCKED_PACKAGE}
    from packages p where ${tenantRows(ctx, 'p')} and p.tracking_key = any(${keys}::text[])
    order by p.id for no key update`;

export type EventRow = {
  id: string;
  packageId: string;
  previousStatus: PackageStatus | null;
  status: PackageStatus;
  occurredAt: string;
  recordedAt: string;
};

/**
 * Selects the changes of the packages' status after their receipt, at most the newest `limit` of each. Not in the statement that
 * waits for the packages' locks.
 */
export const statusEvents = (ctx: UserScope, keys: readonly string[], limit: number): Sql<EventRow> =>
  once`select ${PACKAGE_EVENT},
      ${iso('e.occurred_at')} as "occurredAt", ${iso('e.recorded_at')} as "recordedAt"
    from packages p
    cross join lateral (
      select * from package_events e
      where e.tenant_id = p.tenant_id and e.package_id = p.id and e.source <> 'intake'
      order by e.place desc limit ${limit}::int
    ) as e
    where ${tenantRows(ctx, 'p')} and p.tracking_key = any(${keys}::text[])
    order by e.place`;

/** Selects the couriers that have a package on each manifest. */
export const couriersOnManifests = (
  ctx: UserScope,
  ids: string[],
): Sql<{ manifestId: string; courierId: string }> =>
  once`select distinct ${ABOARD} from packages p
    where ${tenantRows(ctx, 'p')} and p.manifest_id = any(${ids}::uuid[]) and p.courier_id is not null`;

export type PositionRow = RowOf<typeof PARCEL_POSITION> & { loadedAt: string | null };

export const positionsOfParcels = (ctx: UserScope, keys: readonly string[]): Sql<PositionRow> =>
  once`select ${PARCEL_POSITION},
      ${iso('o.loaded_at')} as "loadedAt"
    from parcel_positions o where ${tenantRows(ctx, 'o')} and o.parcel_key = any(${keys}::text[])`;

export type NewScan = StoredScan & { contentHash: string };

/** Inserts in the order of the ids, because two batches that wait for each other's ids in opposite order deadlock. */
export const insertScans = ({ tenantId, caller }: UserScope, scans: NewScan[]): Sql =>
  once`insert into scans (tenant_id, id, station, kind, scanned_at, arrived_at, user_id, scan, parcel_key, details,
      content_hash, manifest_id, is_admitted, event_id, outcome, reason)
    select ${tenantId}::uuid, id, station, kind, "scannedAt", "arrivedAt", ${caller.userId}::uuid, scan, "parcelKey", details,
      "contentHash", "manifestId", "isAdmitted", "eventId", outcome, reason
    from jsonb_to_recordset(${JSON.stringify(scans)}::jsonb) as sent (id uuid, station text, kind text,
      "scannedAt" timestamptz, "arrivedAt" timestamptz, scan text, "parcelKey" text, details jsonb, "contentHash" text,
      "manifestId" uuid, "isAdmitted" boolean, "eventId" uuid, outcome text, reason text)
    order by id`;

export type ChangedScan = Pick<StoredScan, 'id' | 'parcelKey' | 'eventId' | 'outcome' | 'reason'>;

export const changeScans = (ctx: UserScope, scans: ChangedScan[]): Sql =>
  once`update scans s set parcel_key = sent."parcelKey", event_id = sent."eventId", outcome = sent.outcome,
      reason = sent.reason
    from jsonb_to_recordset(${JSON.stringify(scans)}::jsonb) as sent (id uuid, "parcelKey" text, "eventId" uuid,
      outcome text, reason text)
    where ${tenantRows(ctx, 's')} and s.id = sent.id`;

/** Selects the names of users. */
export const userNames = (ctx: UserScope, ids: string[]): Sql<{ id: string; fullName: string }> =>
  once`select ${USER} from users u where ${tenantRows(ctx, 'u')} and u.id = any(${ids}::uuid[])`;

export const savePositions = ({ tenantId }: UserScope, positions: PositionRow[]): Sql =>
  once`insert into parcel_positions (tenant_id, parcel_key, scan, location, manifest_id, loaded_at, station)
    select ${tenantId}::uuid, "parcelKey", scan, location, "manifestId", "loadedAt", station
    from jsonb_to_recordset(${JSON.stringify(positions)}::jsonb) as sent ("parcelKey" text, scan text, location text,
      "manifestId" uuid, "loadedAt" timestamptz, station text)
    order by "parcelKey"
    on conflict (tenant_id, parcel_key) do update set location = excluded.location, manifest_id = excluded.manifest_id,
      loaded_at = excluded.loaded_at, station = excluded.station, updated_at = now()`;

/** Removes positions under keys that the parcel's rows no longer have. */
export const removePositions = (ctx: UserScope, keys: string[]): Sql =>
  once`delete from parcel_positions o where ${tenantRows(ctx, 'o')} and o.parcel_key = any(${keys}::text[])`;

export type StateRow = RowOf<typeof PACKAGE> & {
  status: PackageStatus;
  courierName: string | null;
  manifestNumber: string | null;
  isFlagged: boolean;
};

/** A parcel: the key of its package, and all keys that its pre-alerts can have. */
export type ParcelKeys = { key: string; keys: string[] };

/** Selects the state of the parcels' packages. */
export const packageStates = (ctx: UserScope, parcels: ParcelKeys[]): Sql<StateRow> =>
  once`select ${PACKAGE}, ${COURIER}, ${MANIFEST},
      exists (select from prealerts a where a.tenant_id = p.tenant_id and ${keyInColumn('a', sql`parcel.keys`)}
        and a.status = 'flagged') as "isFlagged"
    from packages p
    join jsonb_to_recordset(${JSON.stringify(parcels)}::jsonb) as parcel (key text, keys text[]) on parcel.key = p.tracking_key
    left join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = p.tenant_id and c.id = p.courier_id
    left join manifests m on ${tenantRows(ctx, 'm')} and m.tenant_id = p.tenant_id and m.id = p.manifest_id
    where ${tenantRows(ctx, 'p')} and p.tracking_key = any(${parcels.map(({ key }) => key)}::text[])`;
