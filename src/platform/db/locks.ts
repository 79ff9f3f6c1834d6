import { sql, type Sql } from './statements.js';

/** Takes the advisory lock of a name until the end of the transaction. */
const lock = (name: string): Sql => sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))::text`;

/**
 * Serializes intake and pre-alerts of one parcel. Without the lock, an intake and a pre-alert in concurrent transactions
 * would not see each other and would not be matched. Take it before writing either.
 */
export const lockParcel = (tenantId: string, trackingKey: string): Sql =>
  lock(`parcel ${tenantId} ${trackingKey}`);

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

/** Serializes appending to the tenant's audit chain. */
export const lockAuditChain = (tenantId: string): Sql => lock(`audit chain ${tenantId}`);
