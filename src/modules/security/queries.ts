import { tenantRows } from '../../platform/db/filters.js';
import { once, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { Role } from '../../platform/identity/callers.js';
import type { UserScope } from '../../platform/db/scope.js';
import { columns } from '../../platform/db/columns.js';

const SECURITY_SETTINGS = columns('SecuritySettings', 's', [
  'requireTwoFactor',
  'idleTimeoutMinutes',
  'updatedAt',
]);

export type SettingsRow = Omit<RowOf<typeof SECURITY_SETTINGS>, 'updatedAt'> & {
  requireTwoFactor: Role[];
  /** Null if the tenant has never changed its settings. */
  updatedAt: Date | null;
};

/** Returns no row if the tenant has never changed its settings. */
export const selectSettings = (ctx: UserScope): Sql<SettingsRow> => once`
  select ${SECURITY_SETTINGS}
  from security_settings s where ${tenantRows(ctx, 's')}`;

/** SQL, so that the database's clock dates the change. */
export const storeSettings = (
  { tenantId }: UserScope,
  { requireTwoFactor: roles, idleTimeoutMinutes: minutes }: Omit<SettingsRow, 'updatedAt'>,
): Sql<SettingsRow> => sql`
  insert into security_settings (tenant_id, require_two_factor, idle_timeout_minutes)
  values (${tenantId}::uuid, ${roles}::text[], ${minutes}::int)
  on conflict (tenant_id) do update set require_two_factor = excluded.require_two_factor,
    idle_timeout_minutes = excluded.idle_timeout_minutes, updated_at = now()
  returning require_two_factor as "requireTwoFactor", idle_timeout_minutes as "idleTimeoutMinutes",
    updated_at as "updatedAt"`;
