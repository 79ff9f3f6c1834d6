import type { Account } from '../credentials/account-queries.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { PersonScope } from '../../../platform/db/scope.js';

// Changes of a user's own account. Each is a compare-and-set on the state in which the caller was
// authenticated: of two concurrent changes only one updates a row, and none does after the user was disabled,
// changed role or was reset. SQL, because the database's clock dates them.

/** The user, as long as the caller's token is valid. */
const authenticatedUser = (ctx: PersonScope): Sql =>
  sql`${tenantRows(ctx, 'users')} and users.id = ${ctx.caller.userId}::uuid
    and users.token_version = ${ctx.caller.tokenVersion}::int and users.is_active`;

/** Revokes every token issued before. */
const endTokens = sql`token_version = users.token_version + 1, updated_at = now()`;

export function setPassword(ctx: PersonScope, { passwordHash: old }: Account, hash: string): Sql {
  return sql`update users set password_hash = ${hash}, must_change_password = false, password_expires_at = null, ${endTokens}
    where ${authenticatedUser(ctx)} and users.password_hash = ${old}`;
}

/** Returns when the setup expires, by the database's clock. */
export function setPendingSecret(
  ctx: PersonScope,
  { passwordHash }: Account,
  cipher: string,
): Sql<{ expiresAt: Date }> {
  return sql`update users set totp_pending_secret = ${cipher}, totp_pending_expires_at = now() + interval '10 minutes',
      updated_at = now()
    where ${authenticatedUser(ctx)} and users.password_hash = ${passwordHash} and not users.two_factor_enabled
    returning totp_pending_expires_at as "expiresAt"`;
}

export type PendingSetup = { cipher: string; expiresAt: Date };

/** Selects the caller's pending setup unless it has expired. */
export function pendingSetup(ctx: PersonScope): Sql<PendingSetup> {
  return sql`select users.totp_pending_secret as cipher, users.totp_pending_expires_at as "expiresAt"
    from users where ${tenantRows(ctx, 'users')} and users.id = ${ctx.caller.userId}::uuid
      and users.totp_pending_expires_at > now() and not users.two_factor_enabled`;
}

/** `cipher` replaces `pendingCipher`. The code of the time step `step` proved the secret and cannot be used again. */
export type VerifiedSecret = { pendingCipher: string; cipher: string; step: number };

export function enableSecret(ctx: PersonScope, { pendingCipher, cipher, step }: VerifiedSecret): Sql {
  return sql`update users set two_factor_enabled = true, totp_secret = ${cipher}, totp_last_step = ${step}::int,
      totp_pending_secret = null, totp_pending_expires_at = null, ${endTokens}
    where ${authenticatedUser(ctx)} and users.totp_pending_secret = ${pendingCipher} and not users.two_factor_enabled`;
}

export function disableSecret(ctx: PersonScope, { passwordHash }: Account): Sql {
  return sql`update users set two_factor_enabled = false, totp_secret = null, totp_last_step = null, ${endTokens}
    where ${authenticatedUser(ctx)} and users.password_hash = ${passwordHash} and users.two_factor_enabled`;
}

/** Locks the user before a change in another table. Returns no row if the account has changed. */
export function lockUnchangedUser(ctx: PersonScope, { passwordHash }: Account): Sql<{ id: string }> {
  return sql`select users.id from users
    where ${authenticatedUser(ctx)} and users.password_hash = ${passwordHash} and users.two_factor_enabled for update`;
}

/** The caller's unused backup codes. */
export function countBackupCodes(ctx: PersonScope): Sql<{ left: number }> {
  return sql`select count(*)::int as left from backup_codes
    where ${tenantRows(ctx, 'backup_codes')} and user_id = ${ctx.caller.userId}::uuid and used_at is null`;
}
