import type { QueryOf } from '../../platform/contract/types.js';
import { tenantRows, containsPattern } from '../../platform/db/filters.js';
import { limitTo } from '../../platform/db/pages.js';
import { empty, join, raw, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { Role } from '../../platform/identity/callers.js';
import type { UserScope } from '../../platform/db/scope.js';
import { columns } from '../../platform/db/columns.js';

const CHANGEABLE = [
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
const USER = columns('User', 'u', [
  ...CHANGEABLE,
  'mustChangePassword',
  'passwordExpiresAt',
  'createdAt',
  'updatedAt',
]);
const COURIER = columns('Courier', 'c', { courierCode: 'code' });

export type UserRow = RowOf<typeof USER> & { role: Role; courierCode: string | null };

type ListQuery = QueryOf<'listUsers'>;

// A tenant has at most a few hundred users, so the search scans them without an index (docs/decisions/0023).
const SORTS = {
  username: 'u.username',
  full_name: 'u.full_name',
  role: 'u.role',
  created_at: 'u.created_at',
  updated_at: 'u.updated_at',
} satisfies Record<ListQuery['sort_by'], string>;

export function pageOfUsers(ctx: UserScope, query: ListQuery): Sql<UserRow> {
  const order = sql`order by ${raw(`${SORTS[query.sort_by]} ${query.sort_dir}, u.id ${query.sort_dir}`)}`;
  const page = sql`${order} ${limitTo(query)}`;
  return selectUsers(ctx, filtersOf(ctx, query), page);
}

export const countUsers = (ctx: UserScope, query: ListQuery): Sql<{ total: number }> =>
  sql`select count(*)::int as total from users u where ${filtersOf(ctx, query)}`;

function filtersOf(ctx: UserScope, query: ListQuery): Sql {
  const conditions = [tenantRows(ctx, 'u')];
  if (query.role) conditions.push(sql`u.role = ${query.role}`);
  if (query.courier_id) conditions.push(sql`u.courier_id = ${query.courier_id}::uuid`);
  if (query.is_active !== undefined) conditions.push(sql`u.is_active = ${query.is_active}::boolean`);
  if (query.search) {
    const pattern = containsPattern(query.search);
    conditions.push(sql`(u.username ilike ${pattern} or u.full_name ilike ${pattern})`);
  }
  return join(conditions, ' and ');
}

function selectUsers(ctx: UserScope, condition: Sql, rest: Sql): Sql<UserRow> {
  return sql`select ${USER},
      ${COURIER}
    from users u left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id and ${tenantRows(ctx, 'c')}
    where ${condition} ${rest}`;
}

export const userById = (ctx: UserScope, userId: string): Sql<UserRow> =>
  selectUsers(ctx, sql`${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid`, empty);

/** A user who is locked for a change. */
export type LockedUser = RowOf<typeof LOCKED_USER> & {
  role: Role;
  isSettingUpFactor: boolean;
  /** The time of the transaction by the database's clock. */
  now: Date;
};

export const lockedUser = (ctx: UserScope, userId: string): Sql<LockedUser> =>
  sql`select ${LOCKED_USER},
      u.totp_pending_secret is not null as "isSettingUpFactor", now() as now
    from users u where ${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid for update`;

export const courierExists = (ctx: UserScope, courierId: string): Sql<{ id: string }> =>
  sql`select c.id from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;

export const userExists = (ctx: UserScope, userId: string): Sql<{ id: string }> =>
  sql`select u.id from users u where ${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid`;

export const usernameExists = (ctx: UserScope, username: string): Sql<{ id: string }> =>
  sql`select u.id from users u where ${tenantRows(ctx, 'u')} and u.username = lower(${username})`;
