import type { Caller, Role } from '../../../platform/identity/callers.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';

export type Account = {
  id: string;
  username: string;
  fullName: string;
  role: Role;
  courierId: string | null;
  courierCode: string | null;
  passwordHash: string;
  tokenVersion: number;
  twoFactorEnabled: boolean;
  totpSecret: string | null;
  /** Whether the tenant requires a second factor for the user's role. */
  isFactorRequired: boolean;
  /** The password is a one-time password. */
  mustChangePassword: boolean;
  /** The password is an expired one-time password. It is treated as a wrong password. */
  isPasswordExpired: boolean;
  /** Both the user and its courier are enabled. */
  isEnabled: boolean;
  /** The database's clock, in seconds since the epoch. */
  nowS: number;
};

export const accountByName = (db: Db, caller: Caller, username: string): Sql =>
  selectAccount(db, caller, sql`users.username = lower(${username})`);

/** As accountById, and locks the user: concurrent changes wait until this transaction ends. */
export const lockAccountForLogin = (db: Db, caller: Caller, userId: string): Sql =>
  sql`${accountById(db, caller, userId)} for share of users`;

export const accountById = (db: Db, caller: Caller, userId: string): Sql =>
  selectAccount(db, caller, sql`users.id = ${userId}::uuid`);

function selectAccount(db: Db, caller: Caller, condition: Sql): Sql {
  return sql`select users.id, users.username, users.full_name as "fullName", users.role,
      users.courier_id as "courierId", couriers.code as "courierCode", users.password_hash as "passwordHash",
      users.token_version as "tokenVersion", users.two_factor_enabled as "twoFactorEnabled",
      users.totp_secret as "totpSecret", users.must_change_password as "mustChangePassword",
      ${isFactorRequired} as "isFactorRequired",
      coalesce(users.password_expires_at <= now(), false) as "isPasswordExpired",
      users.is_active and (users.courier_id is null or couriers.is_active is true) as "isEnabled",
      floor(extract(epoch from now()))::float8 as "nowS"
    from users left join couriers on couriers.tenant_id = users.tenant_id and couriers.id = users.courier_id
      and ${tenantRows(db, caller, 'couriers')}
    where ${tenantRows(db, caller, 'users')} and ${condition}`;
}

/** Whether the tenant requires a second factor for the user's role. */
const isFactorRequired = sql`exists (select from security_settings settings
  where settings.tenant_id = users.tenant_id and users.role = any (settings.require_two_factor))`;

/** The token is valid for five minutes. */
export function insertPreauthToken(caller: Caller, userId: string, tokenHash: string): Sql {
  return sql`insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at)
    values (${caller.tenantId}::uuid, ${tokenHash}, ${userId}::uuid, now() + interval '5 minutes')`;
}

export function deleteExpiredPreauthTokens(db: Db, caller: Caller, userId: string): Sql {
  return sql`delete from preauth_tokens
    where ${tenantRows(db, caller, 'preauth_tokens')} and user_id = ${userId}::uuid and expires_at <= now()`;
}

/** Marks the token as used and returns its user. Returns no row if the token is unknown, used or expired. */
export function consumePreauthToken(db: Db, caller: Caller, tokenHash: string): Sql {
  return sql`update preauth_tokens set consumed_at = now()
    where ${tenantRows(db, caller, 'preauth_tokens')} and token_hash = ${tokenHash}
      and consumed_at is null and expires_at > now()
    returning user_id as "userId"`;
}

/** Updates no row if this step or a later one was already accepted. */
export function acceptTotpStep(db: Db, caller: Caller, userId: string, step: number): Sql {
  return sql`update users set totp_last_step = ${step}::int
    where ${tenantRows(db, caller, 'users')} and id = ${userId}::uuid
      and (totp_last_step is null or totp_last_step < ${step}::int)`;
}

/** Updates no row if the user has no such code or has already used it. */
export function consumeBackupCode(db: Db, caller: Caller, userId: string, codeHash: string): Sql {
  return sql`update backup_codes set used_at = now()
    where ${tenantRows(db, caller, 'backup_codes')} and user_id = ${userId}::uuid and code_hash = ${codeHash}
      and used_at is null`;
}
