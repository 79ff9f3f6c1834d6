import { columns } from '../../platform/db/columns.js';
import { tenantRows, type FilterScope } from '../../platform/db/filters.js';
import { once, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';

type TenantFilter = FilterScope<{ tenantId: string }>;

const SETTINGS = columns('TenantSettings', 's', ['timeZone', 'currency', 'missingAfterHours', 'updatedAt']);

/** `updatedAt` is null if the tenant has never changed its settings. */
export type SettingsRow = Omit<RowOf<typeof SETTINGS>, 'updatedAt' | 'missingAfterHours'> & {
  missingAfterHours: number;
  updatedAt: Date | null;
};

/** The time zone and the currency of a tenant that has never changed them. */
export const DEFAULTS: SettingsRow = {
  timeZone: 'UTC',
  currency: 'USD',
  missingAfterHours: 24,
  updatedAt: null,
};

/** The currency of the tenant, as a column. */
export const currencyOf = (ctx: TenantFilter): Sql =>
  sql`coalesce((select s.currency from tenant_settings s where ${tenantRows(ctx, 's')}), ${DEFAULTS.currency})`;

/** The time zone of the tenant, as a column. */
export const zoneOf = (ctx: TenantFilter): Sql =>
  sql`coalesce((select s.time_zone from tenant_settings s where ${tenantRows(ctx, 's')}), ${DEFAULTS.timeZone})`;

/** After how many hours a delivered parcel is missing, as a column. */
export const missingAfterHours = (ctx: TenantFilter): Sql =>
  sql`coalesce((select s.missing_after_hours from tenant_settings s where ${tenantRows(ctx, 's')}), ${DEFAULTS.missingAfterHours}::int)`;

/** Returns no row if the tenant has never changed its settings. */
export const selectSettings = (ctx: TenantFilter): Sql<SettingsRow> => once`
  select ${SETTINGS} from tenant_settings s where ${tenantRows(ctx, 's')}`;

/** SQL, so that the database's clock dates the change. */
export const storeSettings = (
  { caller: { tenantId } }: UserScope,
  { timeZone, currency, missingAfterHours: hours }: Omit<SettingsRow, 'updatedAt'>,
): Sql<SettingsRow> => sql`
  insert into tenant_settings (tenant_id, time_zone, currency, missing_after_hours)
  values (${tenantId}::uuid, ${timeZone}, ${currency}, ${hours}::int)
  on conflict (tenant_id) do update set time_zone = excluded.time_zone, currency = excluded.currency,
    missing_after_hours = excluded.missing_after_hours, updated_at = now()
  returning time_zone as "timeZone", currency, missing_after_hours as "missingAfterHours", updated_at as "updatedAt"`;

/** Whether PostgreSQL has a time zone of this name, in this spelling. It reads its files of time zones. */
export const isZoneOfDatabase = (name: string): Sql<{ isKnown: boolean }> =>
  sql`select exists (select from pg_timezone_names z where z.name = ${name}) as "isKnown"`;

/**
 * Locks the counter of the tenant's bills, which every publication locks, and returns the number of the last published bill; 0 if there is
 * none. It adds a counter that is missing, because a row that does not exist cannot be locked.
 */
export const lockBillCounter = ({ caller: { tenantId } }: UserScope): Sql<{ lastNumber: number }> => sql`
  insert into bill_counters (tenant_id, last_number) values (${tenantId}::uuid, 0)
  on conflict (tenant_id) do update set last_number = bill_counters.last_number
  returning last_number as "lastNumber"`;
