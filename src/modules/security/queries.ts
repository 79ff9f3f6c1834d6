import type { Role, UserCaller } from '../../platform/identity/callers.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';

export type SettingsRow = {
  require_two_factor: Role[];
  idle_timeout_minutes: number | null;
  updated_at: Date | null;
};

/** Returns no row if the tenant has never changed its settings. */
export const selectSettings = (db: Db, caller: UserCaller): Sql => sql`
  select s.require_two_factor, s.idle_timeout_minutes, s.updated_at from security_settings s
  where ${tenantRows(db, caller, 's')}`;

export const storeSettings = (
  { tenantId }: UserCaller,
  { require_two_factor: roles, idle_timeout_minutes: minutes }: Omit<SettingsRow, 'updated_at'>,
): Sql => sql`
  insert into security_settings (tenant_id, require_two_factor, idle_timeout_minutes)
  values (${tenantId}::uuid, ${roles}::text[], ${minutes}::int)
  on conflict (tenant_id) do update set require_two_factor = excluded.require_two_factor,
    idle_timeout_minutes = excluded.idle_timeout_minutes, updated_at = now()
  returning require_two_factor, idle_timeout_minutes, updated_at`;
