import { sql, type Sql } from './transaction.js';

/** Holds what is named to the end of the transaction; whoever names the same waits. */
const lock = (name: string): Sql => sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))::text`;

/**
 * Makes intake and pre-alerts of one parcel take turns, so that neither misses what the other is about to store: a
 * pre-alert written while the parcel is being received would see no package, and the intake no pre-alert. Whoever
 * writes either takes it first.
 */
export const lockParcel = (tenantId: string, trackingKey: string): Sql =>
  lock(`parcel ${tenantId} ${trackingKey}`);

/**
 * One lock for all rate tables of a tenant: a copy reads one and writes another, and rates change too seldom for
 * anybody to wait.
 */
export const lockRates = (tenantId: string): Sql => lock(`rates ${tenantId}`);

/** Whoever takes an administrator away: of two who take each other away at once, one must see what the other did. */
export const lockAdministrators = (tenantId: string): Sql => lock(`administrators ${tenantId}`);

/** One change of the tenant's security settings at a time: there may be no row to lock yet. */
export const lockSecuritySettings = (tenantId: string): Sql => lock(`security settings ${tenantId}`);

/** One who changes which warehouses there are, or which is primary, at a time. */
export const lockWarehouses = (tenantId: string): Sql => lock(`warehouses ${tenantId}`);

/** Another upload for the courier waits until this one has ended: together they would do everything twice. */
export const lockUploads = (tenantId: string, courierId: string): Sql =>
  lock(`upload ${tenantId} ${courierId}`);

/** The chain of the tenant's audit log grows by one at a time. */
export const lockAuditChain = (tenantId: string): Sql => lock(`audit chain ${tenantId}`);
