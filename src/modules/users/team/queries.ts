import type { QueryOf } from '../../../platform/contract/types.js';
import { columns } from '../../../platform/db/columns.js';
import { allOf, containsText, ownRows, tenantRows } from '../../../platform/db/filters.js';
import { limitTo, orderBy } from '../../../platform/db/pages.js';
import type { PersonScope, Scope } from '../../../platform/db/scope.js';
import { empty, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { Role } from '../../../platform/identity/callers.js';
import { CHANGEABLE, SHOWN, type LockedUser } from '../queries.js';

/** The roles of the users of a team. Only administrators change those of others. */
export type TeamRole = Extract<Role, 'warehouse' | 'courier'>;

const MEMBER = columns('User', 'u', [...SHOWN, 'isCourierOwner']);
const LOCKED = columns('User', 'u', [...CHANGEABLE, 'isCourierOwner']);
const CALLER = columns('User', 'u', ['role', 'courierId', 'isCourierOwner']);
const COURIER = columns('Courier', 'c', { courierCode: 'code' });

export type MemberRow = RowOf<typeof MEMBER> & { role: TeamRole; courierCode: string | null };

type ListQuery = QueryOf<'listTeam'>;

const TEAM_ROLES = sql`u.role in ('warehouse', 'courier')`;

export const pageOfTeam = (ctx: PersonScope, query: ListQuery): Sql<MemberRow> =>
  selectMembers(
    ctx,
    filtersOf(ctx, query),
    sql`${orderBy('u', [query.sort_by, 'id'], query.sort_dir)} ${limitTo(query)}`,
  );

export const countTeam = (ctx: PersonScope, query: ListQuery): Sql<{ total: number }> =>
  sql`select count(*)::int as total from users u where ${filtersOf(ctx, query)}`;

const filtersOf = (
  ctx: PersonScope,
  { role, courier_id: courierId, is_active: isActive, search }: ListQuery,
): Sql =>
  allOf(
    ownRows(ctx, 'u'),
    TEAM_ROLES,
    role && sql`u.role = ${role}`,
    ctx.caller.courierId === null && courierId && sql`u.courier_id = ${courierId}::uuid`,
    isActive !== undefined && sql`u.is_active = ${isActive}::boolean`,
    search && containsText(search, ['u.username', 'u.full_name']),
  );

const selectMembers = (ctx: Scope, condition: Sql, rest: Sql): Sql<MemberRow> =>
  sql`select ${MEMBER},
      ${COURIER}
    from users u left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id and ${tenantRows(ctx, 'c')}
    where ${condition} ${rest}`;

/** A user in the caller's own scope: row-level security shows a courier no others. */
export const visibleMember = (ctx: PersonScope, userId: string): Sql<{ email: string | null }> =>
  sql`select u.email from users u where ${ownRows(ctx, 'u')} and ${TEAM_ROLES} and u.id = ${userId}::uuid`;

/** Whose users the caller manages, now. */
export type CallerRow = RowOf<typeof CALLER> & { courierCode: string | null };

/** Returns no row if the caller has been changed since it got its token. */
export const callerNow = (ctx: PersonScope): Sql<CallerRow> =>
  sql`select ${CALLER},
      ${COURIER}
    from users u left join couriers c on c.tenant_id = u.tenant_id and c.id = u.courier_id and ${tenantRows(ctx, 'c')}
    where ${tenantRows(ctx, 'u')} and u.id = ${ctx.caller.userId}::uuid and u.is_active
      and u.token_version = ${ctx.caller.tokenVersion}::int`;

export type LockedMember = LockedUser & { role: TeamRole; isCourierOwner: boolean };

/**
 * Locks a user of the team in the scope of the tenant, where row-level security tells no courier from another.
 *
 * @param courierId of the caller; null for staff
 */
export const lockedMember = (ctx: Scope, courierId: string | null, userId: string): Sql<LockedMember> =>
  sql`select ${LOCKED},
      u.totp_pending_secret is not null as "isSettingUpFactor", now() as now
    from users u where ${tenantRows(ctx, 'u')} and ${TEAM_ROLES}
      and (${courierId}::uuid is null or u.courier_id = ${courierId}::uuid) and u.id = ${userId}::uuid for update`;

export const memberById = (ctx: Scope, userId: string): Sql<MemberRow> =>
  selectMembers(ctx, sql`${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid`, empty);
