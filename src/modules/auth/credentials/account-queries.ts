import { columns } from '../../../platform/db/columns.js';
import type { Role } from '../../../platform/identity/callers.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { once, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { Scope, PersonScope } from '../../../platform/db/scope.js';

const USER = columns('User', 'users', [
  'id',
  'username',
  'fullName',
  'role',
  'courierId',
  'passwordHash',
  'tokenVersion',
  'twoFactorEnabled',
  'totpSecret',
  'mustChangePassword',
]);

export type Account = RowOf<typeof USER> & {
  role: Role;
  courierCode: string | null;
  /** Whether the tenant requires a second factor for the user's role. */
  isFactorRequired: boolean;
  /** The password is an expired one-time password. It is treated as a wrong password. */
  isPasswordExpired: boolean;
  /** Both the user and its courier are enabled. */
  isEnabled: boolean;
  /** The database's clock, in seconds since the epoch. */
  nowS: number;
};

export const accountByName = (ctx: Scope, username: string): Sql<Account> =>
  selectAccount(ctx, sql`users.username = lower(${username})`);

/**
 * Locks the user: concurrent changes wait until this transaction ends. Select the account afterwards: a statement that waits for the lock
 * still sees the user's courier as it was before.
 */
export const lockUserForLogin = (ctx: Scope, userId: string): Sql<{ id: string }> =>
  sql`select users.id from users where ${tenantRows(ctx, 'users')} and users.id = ${userId}::uuid for share`;

export const accountById = (ctx: Scope, userId: string): Sql<Account> =>
  selectAccount(ctx, sql`users.id = ${userId}::uuid`);

function selectAccount(ctx: Scope, condition: Sql): Sql<Account> {
  return once`select ${USER}, couriers.code as "courierCode", ${isFactorRequired} as "isFactorRequired",
      coalesce(users.password_expires_at <= now(), false) as "isPasswordExpired",
      users.is_active and (users.courier_id is null or couriers.is_active is true) as "isEnabled",
      floor(extract(epoch from now()))::float8 as "nowS"
    from users left join couriers on couriers.tenant_id = users.tenant_id and couriers.id = users.courier_id
      and ${tenantRows(ctx, 'couriers')}
    where ${tenantRows(ctx, 'users')} and ${condition}`;
}

/** Whether the tenant requires a second factor for the user's role. */
const isFactorRequired = sql`exists (select from security_settings settings
  where settings.tenant_id = users.tenant_id and users.role = any (settings.require_two_factor))`;

/** Rows to look at. They are enough to find the cost of most, and take less than a millisecond. */
const COST_SAMPLE = 1_000;

/** The cost that most of the tenant's hashes have. */
export const usualHashCost = (ctx: Scope): Sql<{ cost: number }> =>
  sql`select substr(sampled.password_hash, 5, 2)::int as cost
    from (select users.password_hash from users where ${tenantRows(ctx, 'users')} limit ${COST_SAMPLE}::int) as sampled
    where sampled.password_hash ~ '^.2[aby].[0-9]{2}.'
    group by 1 order by count(*) desc, 1 desc limit 1`;

/** Replaces the hash of the same password. Returns no row if the password has changed. */
export const replaceHash = (
  ctx: Scope,
  { id, passwordHash }: Pick<Account, 'id' | 'passwordHash'>,
  hash: string,
): Sql<{ id: string }> =>
  sql`update users set password_hash = ${hash}
    where ${tenantRows(ctx, 'users')} and users.id = ${id}::uuid and users.password_hash = ${passwordHash}
    returning users.id`;

/** Locks the caller if its token is valid and its password the same. Returns no row otherwise. */
export const lockOwnUser = (
  ctx: PersonScope,
  { passwordHash }: Pick<Account, 'passwordHash'>,
): Sql<{ id: string }> =>
  sql`select users.id from users
    where ${tenantRows(ctx, 'users')} and users.id = ${ctx.caller.userId}::uuid and users.is_active
      and users.token_version = ${ctx.caller.tokenVersion}::int and users.password_hash = ${passwordHash} for update`;

/** The token is valid for five minutes. */
export function insertPreauthToken({ tenantId }: Scope, userId: string, tokenHash: string): Sql {
  return sql`insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at)
    values (${tenantId}::uuid, ${tokenHash}, ${userId}::uuid, now() + interval '5 minutes')`;
}

export function deleteExpiredPreauthTokens(ctx: Scope, userId: string): Sql {
  return sql`delete from preauth_tokens
    where ${tenantRows(ctx, 'preauth_tokens')} and user_id = ${userId}::uuid and expires_at <= now()`;
}

/** Marks the token as used and returns its user. Returns no row if the token is unknown, used or expired. */
export function consumePreauthToken(ctx: Scope, tokenHash: string): Sql<{ userId: string }> {
  return sql`update preauth_tokens set consumed_at = now()
    where ${tenantRows(ctx, 'preauth_tokens')} and token_hash = ${tokenHash}
      and consumed_at is null and expires_at > now()
    returning user_id as "userId"`;
}

/** Updates no row if this step or a later one was already accepted. */
export function acceptTotpStep(ctx: Scope, userId: string, step: number): Sql {
  return sql`update users set totp_last_step = ${step}::int
    where ${tenantRows(ctx, 'users')} and id = ${userId}::uuid
      and (totp_last_step is null or totp_last_step < ${step}::int)`;
}

/** Updates no row if the user has no such code or has already used it. */
export function consumeBackupCode(ctx: Scope, userId: string, codeHash: string): Sql {
  return sql`update backup_codes set used_at = now()
    where ${tenantRows(ctx, 'backup_codes')} and user_id = ${userId}::uuid and code_hash = ${codeHash}
      and used_at is null`;
}

/** An authenticated user, and the session of its token. */
export type SignIn = { account: Account; sessionId: string };
