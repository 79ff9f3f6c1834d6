import type { SystemCaller, UserCaller } from '../../../platform/identity/callers.js';
import type { Account } from '../credentials/account-queries.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import { newId } from '../../../platform/values/ids.js';

// Changes of a user's own account. Each is a compare-and-set on the state in which the caller was
// authenticated: of two concurrent changes only one updates a row, and none does after the user was disabled,
// changed role or was reset.

/** The user, as long as the caller's token is valid. */
const authenticatedUser = (db: Db, caller: UserCaller): Sql =>
  sql`${tenantRows(db, caller, 'users')} and users.id = ${caller.userId}::uuid
    and users.token_version = ${caller.tokenVersion}::int and users.is_active`;

/** Revokes every token issued before. */
const endTokens = sql`token_version = users.token_version + 1, updated_at = now()`;

export function setPassword(db: Db, caller: UserCaller, { passwordHash: old }: Account, hash: string): Sql {
  return sql`update users set password_hash = ${hash}, must_change_password = false, password_expires_at = null, ${endTokens}
    where ${authenticatedUser(db, caller)} and users.password_hash = ${old}`;
}

/** Returns when the setup expires, by the database's clock. */
export function setPendingSecret(db: Db, caller: UserCaller, { passwordHash }: Account, cipher: string): Sql {
  return sql`update users set totp_pending_secret = ${cipher}, totp_pending_expires_at = now() + interval '10 minutes',
      updated_at = now()
    where ${authenticatedUser(db, caller)} and users.password_hash = ${passwordHash} and not users.two_factor_enabled
    returning totp_pending_expires_at as "expiresAt"`;
}

/** Selects the pending setup unless it has expired. */
export function pendingSetup(db: Db, caller: SystemCaller | UserCaller, userId: string): Sql {
  return sql`select users.totp_pending_secret as cipher, users.totp_pending_expires_at as "expiresAt"
    from users where ${tenantRows(db, caller, 'users')} and users.id = ${userId}::uuid
      and users.totp_pending_expires_at > now() and not users.two_factor_enabled`;
}

export type PendingSetup = { cipher: string; expiresAt: Date };

/** @param step the time step of the code that proved the secret; this code cannot be used again */
export function enableSecret(
  db: Db,
  caller: UserCaller,
  { proven, cipher, step }: { proven: string; cipher: string; step: number },
): Sql {
  return sql`update users set two_factor_enabled = true, totp_secret = ${cipher}, totp_last_step = ${step}::int,
      totp_pending_secret = null, totp_pending_expires_at = null, ${endTokens}
    where ${authenticatedUser(db, caller)} and users.totp_pending_secret = ${proven} and not users.two_factor_enabled`;
}

export function disableSecret(db: Db, caller: UserCaller, { passwordHash }: Account): Sql {
  return sql`update users set two_factor_enabled = false, totp_secret = null, totp_last_step = null, ${endTokens}
    where ${authenticatedUser(db, caller)} and users.password_hash = ${passwordHash} and users.two_factor_enabled`;
}

/** Locks the user before a change in another table. Returns no row if the account has changed. */
export function lockUnchangedUser(db: Db, caller: UserCaller, { passwordHash }: Account): Sql {
  return sql`select users.id from users
    where ${authenticatedUser(db, caller)} and users.password_hash = ${passwordHash} and users.two_factor_enabled for update`;
}

/**
 * Deletes the tokens issued after a correct password, before the second factor. They must not outlive the
 * password or the factor.
 */
export function deletePreauthTokens(db: Db, caller: SystemCaller | UserCaller, userId: string): Sql {
  return sql`delete from preauth_tokens
    where ${tenantRows(db, caller, 'preauth_tokens')} and user_id = ${userId}::uuid`;
}

export function deleteBackupCodes(db: Db, caller: SystemCaller | UserCaller, userId: string): Sql {
  return sql`delete from backup_codes
    where ${tenantRows(db, caller, 'backup_codes')} and user_id = ${userId}::uuid`;
}

export function insertBackupCodes(caller: UserCaller, hashes: string[]): Sql {
  return sql`insert into backup_codes (tenant_id, id, user_id, code_hash)
    select ${caller.tenantId}::uuid, id, ${caller.userId}::uuid, hash
    from unnest(${hashes.map(newId)}::uuid[], ${hashes}::text[]) as made (id, hash)`;
}

export function countBackupCodes(db: Db, caller: SystemCaller, userId: string): Sql {
  return sql`select count(*)::int as left from backup_codes
    where ${tenantRows(db, caller, 'backup_codes')} and user_id = ${userId}::uuid and used_at is null`;
}

export function tenantName(db: Db, caller: UserCaller): Sql {
  const own = db.applicationFilters ? sql`tenants.id = ${caller.tenantId}::uuid` : sql`true`;
  return sql`select tenants.name from tenants where ${own}`;
}
