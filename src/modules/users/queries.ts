import type { Ctx } from './context.js';
import type { Role, UserCaller } from '../../platform/identity/callers.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { tenantRows } from '../../platform/db/filters.js';
import { containsPattern } from '../../platform/db/patterns.js';
import { empty, join, raw, sql, type Db, type Sql } from '../../platform/db/transaction.js';

export type UserRow = {
  id: string;
  username: string;
  full_name: string;
  email: string | null;
  role: Role;
  courier_id: string | null;
  courier_code: string | null;
  is_active: boolean;
  two_factor_enabled: boolean;
  must_change_password: boolean;
  password_expires_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

type ListQuery = QueryOf<'listUsers'>;

// A tenant has at most a few hundred users, so the search scans them without an index (docs/decisions/0023).
const SORTS = {
  username: 'u.username',
  full_name: 'u.full_name',
  role: 'u.role',
  created_at: 'u.created_at',
  updated_at: 'u.updated_at',
} satisfies Record<ListQuery['sort_by'], string>;

export function pageOfUsers(db: Db, caller: UserCaller, query: ListQuery): Sql {
  const order = sql`order by ${raw(`${SORTS[query.sort_by]} ${query.sort_dir}, u.id ${query.sort_dir}`)}`;
  const page = sql`${order} limit ${query.limit}::int offset ${(query.page - 1) * query.limit}::bigint`;
  return selectUsers(db, caller, filtersOf(db, caller, query), page);
}

export const countUsers = (db: Db, caller: UserCaller, query: ListQuery): Sql =>
  sql`select count(*)::int as total from users u where ${filtersOf(db, caller, query)}`;

function filtersOf(db: Db, caller: UserCaller, query: ListQuery): Sql {
  const conditions = [tenantRows(db, caller, 'u')];
  if (query.role) conditions.push(sql`u.role = ${query.role}`);
  if (query.courier_id) conditions.push(sql`u.courier_id = ${query.courier_id}::uuid`);
  if (query.is_active !== undefined) conditions.push(sql`u.is_active = ${query.is_active}::boolean`);
  if (query.search) {
    const pattern = containsPattern(query.search);
    conditions.push(sql`(u.username ilike ${pattern} or u.full_name ilike ${pattern})`);
  }
  return join(conditions, ' and ');
}

function selectUsers(db: Db, caller: UserCaller, condition: Sql, rest: Sql): Sql {
  return sql`select u.id, u.username, u.full_name, u.email, u.role, u.courier_id, c.code as courier_code, u.is_active,
      u.two_factor_enabled, u.must_change_password, u.password_expires_at, u.created_at, u.updated_at
    from users u left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id and ${tenantRows(db, caller, 'c')}
    where ${condition} ${rest}`;
}

export async function selectUser({ db, caller, tx }: Ctx, userId: string): Promise<UserRow | undefined> {
  const one = sql`${tenantRows(db, caller, 'u')} and u.id = ${userId}::uuid`;
  const [row] = await tx.query<UserRow>(selectUsers(db, caller, one, empty));
  return row;
}

/** The columns of a user who is locked for a change. */
export type LockedUser = Pick<
  UserRow,
  'id' | 'username' | 'full_name' | 'email' | 'role' | 'courier_id' | 'is_active' | 'two_factor_enabled'
> & { is_setting_up: boolean };

export async function lockUser({ db, caller, tx }: Ctx, userId: string): Promise<LockedUser | undefined> {
  const [row] =
    await tx.query<LockedUser>(sql`select u.id, u.username, u.full_name, u.email, u.role, u.courier_id, u.is_active,
      u.two_factor_enabled, u.totp_pending_secret is not null as is_setting_up
    from users u where ${tenantRows(db, caller, 'u')} and u.id = ${userId}::uuid for update`);
  return row;
}

export async function hasOtherAdmin({ db, caller, tx }: Ctx, userId: string): Promise<boolean> {
  const rows = await tx.query(sql`select from users u
    where ${tenantRows(db, caller, 'u')} and u.role = 'admin' and u.is_active and u.id <> ${userId}::uuid limit 1`);
  return rows.length > 0;
}

export const courierExists = (db: Db, caller: UserCaller, courierId: string): Sql =>
  sql`select c.id from couriers c where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`;

export const userExists = (db: Db, caller: UserCaller, userId: string): Sql =>
  sql`select u.id from users u where ${tenantRows(db, caller, 'u')} and u.id = ${userId}::uuid`;

export const usernameExists = (db: Db, caller: UserCaller, username: string): Sql =>
  sql`select u.id from users u where ${tenantRows(db, caller, 'u')} and u.username = lower(${username})`;

/** A change that revokes no token. */
export const setContact = (
  ctx: Ctx,
  userId: string,
  { full_name: fullName, email }: Pick<UserRow, 'full_name' | 'email'>,
): Promise<number> => updateUser(ctx, userId, sql`full_name = ${fullName}, email = ${email}`);

export const setRole = (ctx: Ctx, userId: string, role: Role, courierId: string | null): Promise<number> =>
  updateUser(ctx, userId, sql`role = ${role}, courier_id = ${courierId}::uuid, ${endTokens}`);

export const setActive = (ctx: Ctx, userId: string, isActive: boolean): Promise<number> =>
  updateUser(ctx, userId, sql`is_active = ${isActive}::boolean, ${endTokens}`);

export const setOneTimePassword = (
  ctx: Ctx,
  userId: string,
  hash: string,
  lastsDays: number,
): Promise<number> =>
  updateUser(
    ctx,
    userId,
    sql`password_hash = ${hash}, must_change_password = true,
      password_expires_at = now() + make_interval(days => ${lastsDays}::int), ${endTokens}`,
  );

export const clearSecondFactor = (ctx: Ctx, userId: string): Promise<number> =>
  updateUser(
    ctx,
    userId,
    sql`two_factor_enabled = false, totp_secret = null, totp_last_step = null, totp_pending_secret = null,
      totp_pending_expires_at = null, ${endTokens}`,
  );

const endTokens = sql`token_version = u.token_version + 1`;

function updateUser({ db, caller, tx }: Ctx, userId: string, change: Sql): Promise<number> {
  return tx.execute(sql`update users u set ${change}, updated_at = now()
    where ${tenantRows(db, caller, 'u')} and u.id = ${userId}::uuid`);
}

/**
 * Deletes the tokens issued after a correct password, before the second factor. They must not remain valid
 * after the account changes.
 */
export function deletePreauthTokens({ db, caller, tx }: Ctx, userId: string): Promise<number> {
  return tx.execute(sql`delete from preauth_tokens p
    where ${tenantRows(db, caller, 'p')} and p.user_id = ${userId}::uuid`);
}

export function deleteBackupCodes({ db, caller, tx }: Ctx, userId: string): Promise<number> {
  return tx.execute(sql`delete from backup_codes b
    where ${tenantRows(db, caller, 'b')} and b.user_id = ${userId}::uuid`);
}
