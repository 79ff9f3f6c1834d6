import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { SystemScope } from '../../../platform/db/scope.js';

/**
 * Replaces passwords by their hashes, and ends the sessions of the users. Returns the users' names.
 *
 * @param replacement the new hash
 * @param isDemo whether the users are those of the demo data, who are disabled too
 */
export const replacePasswords = (
  ctx: SystemScope,
  hashes: string[],
  replacement: string,
  isDemo: boolean,
): Sql<{ username: string }> =>
  sql`update users u set password_hash = ${replacement}, token_version = token_version + 1,
      is_active = is_active and not ${isDemo}::boolean, updated_at = now()
    where ${tenantRows(ctx, 'u')} and u.password_hash = any(${hashes}::text[]) returning u.username`;

/** Removes the second factor of users, and ends their sessions. */
export const removeAuthenticators = (ctx: SystemScope, userIds: string[]): Sql<{ username: string }> =>
  sql`update users u set two_factor_enabled = false, totp_secret = null, token_version = token_version + 1, updated_at = now()
    where ${tenantRows(ctx, 'u')} and u.id = any(${userIds}::uuid[]) returning u.username`;

/** The backup codes of users without a second factor. */
export const removeBackupCodes = (ctx: SystemScope, userIds: string[]): Sql<{ id: string }> =>
  sql`delete from backup_codes b where ${tenantRows(ctx, 'b')} and b.user_id = any(${userIds}::uuid[]) returning b.id`;

export const removeApiKeys = (ctx: SystemScope, hashes: string[]): Sql<{ code: string }> =>
  sql`update couriers c set api_key_hash = null, api_key_cipher = null, updated_at = now()
    where ${tenantRows(ctx, 'c')} and c.api_key_hash = any(${hashes}::text[]) returning c.code`;
