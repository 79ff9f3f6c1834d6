import type { QueryOf } from '../../platform/contract/types.js';
import { allOf, containsText, tenantRows } from '../../platform/db/filters.js';
import { limitTo, orderBy } from '../../platform/db/pages.js';
import { empty, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { Role } from '../../platform/identity/callers.js';
import type { PersonScope } from '../../platform/db/scope.js';
import { columns } from '../../platform/db/columns.js';

/** What a change reads of a user. */
export const CHANGEABLE = [
  'id',
  'username',
  'fullName',
  'email',
  'role',
  'courierId',
  'isActive',
  'twoFactorEnabled',
] as const;
const LOCKED_USER = columns('User', 'u', CHANGEABLE);
/** What a list shows of a user. */
export const SHOWN = [
  ...CHANGEABLE,
  'mustChangePassword',
  'passwordExpiresAt',
  'createdAt',
  'updatedAt',
] as const;
const USER = columns('User', 'u', SHOWN);
const COURIER = columns('Courier', 'c', { courierCode: 'code' });

export type UserRow = RowOf<typeof USER> & { role: Role; courierCode: string | null };

type ListQuery = QueryOf<'listUsers'>;

// A tenant has at most a few hundred users, so the search scans them without an index (docs/decisions/0023).
export function pageOfUsers(ctx: PersonScope, query: ListQuery): Sql<UserRow> {
  const order = orderBy('u', [query.sort_by, 'id'], query.sort_dir);
  return selectUsers(ctx, filtersOf(ctx, query), sql`${order} ${limitTo(query)}`);
}

export const countUsers = (ctx: PersonScope, query: ListQuery): Sql<{ total: number }> =>
  sql`select count(*)::int as total from users u where ${filtersOf(ctx, query)}`;

const filtersOf = (
  ctx: PersonScope,
  { role, courier_id: courierId, is_active: isActive, search }: ListQuery,
): Sql =>
  allOf(
    tenantRows(ctx, 'u'),
    role && sql`u.role = ${role}`,
    courierId && sql`u.courier_id = ${courierId}::uuid`,
    isActive !== undefined && sql`u.is_active = ${isActive}::boolean`,
    search && containsText(search, ['u.username', 'u.full_name']),
  );

function selectUsers(ctx: PersonScope, condition: Sql, rest: Sql): Sql<UserRow> {
  return sql`select ${USER},
      ${COURIER}
    from users u left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id and ${tenantRows(ctx, 'c')}
    where ${condition} ${rest}`;
}

export const userById = (ctx: PersonScope, userId: string): Sql<UserRow> =>
  selectUsers(ctx, sql`${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid`, empty);

/** A user who is locked for a change. */
export type LockedUser = RowOf<typeof LOCKED_USER> & {
  role: Role;
  isSettingUpFactor: boolean;
  /** The time of the transaction by the database's clock. */
  now: Date;
};

export const lockedUser = (ctx: PersonScope, userId: string): Sql<LockedUser> =>
  sql`select ${LOCKED_USER},
      u.totp_pending_secret is not null as "isSettingUpFactor", now() as now
    from users u where ${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid for update`;

export const userExists = (ctx: PersonScope, userId: string): Sql<{ id: string }> =>
  sql`select u.id from users u where ${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid`;

export const usernameExists = (ctx: PersonScope, username: string): Sql<{ id: string }> =>
  sql`select u.id from users u where ${tenantRows(ctx, 'u')} and u.username = lower(${username})`;
