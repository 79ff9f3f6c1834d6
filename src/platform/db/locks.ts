import { once, sql, type Sql } from './statements.js';

/** Takes the advisory lock of a name until the end of the transaction. */
const lock = (name: string): Sql => once`select pg_advisory_xact_lock(hashtextextended(${name}, 0))::text`;

/** The number of parcel locks per tenant, a power of two. The server's table of locks holds, for example, 6,400. */
const PARCEL_LOCKS = sql`128`;

const parcelsOf = (tenantId: string): Sql => sql`hashtext(${`parcels ${tenantId}`})`;
const lockOf = (trackingKey: Sql): Sql => sql`hashtext(${trackingKey}) & (${PARCEL_LOCKS} - 1)`;

/** Sorted, because two transactions that lock in opposite order deadlock. */
const locksOf = (trackingKeys: readonly string[]): Sql =>
  sql`select distinct ${lockOf(sql`key`)} as lock from unnest(${trackingKeys}::text[]) as key order by lock`;

/**
 * Serializes intake, changes of packages and changes of pre-alerts of one parcel until the end of the transaction. Without
 * the lock, an intake and a pre-alert in concurrent transactions would not see each other and would not be matched. Take
 * it before writing either. Parcels share 128 locks per tenant (decision 0038).
 */
export const lockParcel = (tenantId: string, trackingKey: string): Sql =>
  once`select pg_advisory_xact_lock(${parcelsOf(tenantId)}, ${lockOf(sql`${trackingKey}::text`)})::text`;

/** The same for several parcels, or for a parcel with several keys. */
export function lockParcels(tenantId: string, trackingKeys: readonly string[]): Sql {
  const [key, another] = trackingKeys;
  if (key !== undefined && another === undefined) return lockParcel(tenantId, key);
  return once`with locks as materialized (${locksOf(trackingKeys)})
    select pg_advisory_xact_lock(${parcelsOf(tenantId)}, lock)::text from locks`;
}

/**
 * The same for a new pre-alert. It waits for the transactions that have locked the parcel, but not for other new pre-alerts:
 * the unique constraint refuses a second one of a number.
 */
export const lockAnnouncedParcel = (tenantId: string, trackingKey: string): Sql =>
  once`select pg_advisory_xact_lock_shared(${parcelsOf(tenantId)}, ${lockOf(sql`${trackingKey}::text`)})::text`;

/** The same for several new pre-alerts. */
export function lockAnnouncedParcels(tenantId: string, trackingKeys: readonly string[]): Sql {
  const [key, another] = trackingKeys;
  if (key !== undefined && another === undefined) return lockAnnouncedParcel(tenantId, key);
  return once`with locks as materialized (${locksOf(trackingKeys)})
    select pg_advisory_xact_lock_shared(${parcelsOf(tenantId)}, lock)::text from locks`;
}

/** Serializes changes of a tenant's rate tables. One lock for all of them, because a copy reads one table and writes another. */
export const lockRates = (tenantId: string): Sql => lock(`rates ${tenantId}`);

/** Serializes the removal of administrators, so that two administrators who remove each other leave one. */
export const lockAdministrators = (tenantId: string): Sql => lock(`administrators ${tenantId}`);

/** Serializes changes of the tenant's security settings. An advisory lock, because the row may not exist yet. */
export const lockSecuritySettings = (tenantId: string): Sql => lock(`security settings ${tenantId}`);

/** Serializes adding and removing warehouses and changing the primary one. */
export const lockWarehouses = (tenantId: string): Sql => lock(`warehouses ${tenantId}`);

/** Serializes uploads for a courier, because two concurrent uploads would do the same work twice. */
export const lockUploads = (tenantId: string, courierId: string): Sql =>
  lock(`upload ${tenantId} ${courierId}`);

/** Serializes requests with the same print_id, so that a repetition finds the jobs of the first one. Take it before the station's. */
export const lockPrint = (tenantId: string, printId: string): Sql => lock(`print ${tenantId} ${printId}`);

/** Serializes requests for labels at a station, because they count the waiting ones. */
export const lockLabelStation = (tenantId: string, station: string): Sql =>
  lock(`label station ${tenantId} ${station}`);

/** Serializes appending to the tenant's audit chain. */
export const lockAuditChain = (tenantId: string): Sql => lock(`audit chain ${tenantId}`);
