import { tenantRows } from '../../platform/db/filters.js';
import type { Session, User } from '../../platform/db/models/types.js';
import { limitTo } from '../../platform/db/pages.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import { oneLine } from '../../platform/mail/plain-text.js';
import type { Scope, SystemScope, PersonScope } from '../../platform/db/scope.js';
import { columns } from '../../platform/db/columns.js';

const USER = columns('User', 'u', ['isActive', 'tokenVersion']);

export type StartedBy = 'login' | 'verify_2fa' | 'password_change' | 'two_factor_change' | 'pin';

export type NewSession = {
  id: string;
  userId: string;
  startedBy: StartedBy;
  address: string;
  userAgent: string | undefined;
  expiresAtS: number;
};

export function insertSession({ tenantId }: Scope, session: NewSession): Sql {
  const { id, userId, startedBy, address, userAgent, expiresAtS } = session;
  return sql`insert into sessions (tenant_id, id, user_id, started_by, address, user_agent, expires_at)
    values (${tenantId}::uuid, ${id}::uuid, ${userId}::uuid, ${startedBy}, ${address},
      ${oneLine(userAgent ?? '') || null}, to_timestamp(${expiresAtS}::float8))`;
}

export const otherNetworks = (ctx: SystemScope, userId: string, network: string): Sql<{ exist: boolean }> =>
  sql`select exists (select from known_networks n where ${tenantRows(ctx, 'n')}
    and n.user_id = ${userId}::uuid and n.network <> ${network}) as exist`;

/** xmax is 0 if the row was inserted, and not 0 if it already existed. */
export const upsertNetwork = (
  { tenantId }: SystemScope,
  userId: string,
  network: string,
): Sql<{ isNew: boolean }> =>
  sql`insert into known_networks (tenant_id, user_id, network)
    values (${tenantId}::uuid, ${userId}::uuid, ${network})
    on conflict (tenant_id, user_id, network) do update set last_seen_at = now()
    returning xmax = 0 as "isNew"`;

/** The same rule as in the database function enter_with_token. */
const isIdle = sql`coalesce(s.last_seen_at <= now()
  - make_interval(mins => settings.idle_timeout_minutes, secs => 15), false)`;

export type SessionRow = Omit<Session, 'tenantId' | 'startedBy' | 'endReason'> & {
  startedBy: StartedBy;
  endReason: 'logout' | 'ended' | 'revoked' | 'idle' | 'expired' | null;
};

export type SessionPage = { userId: string; isActive: boolean; page: number; limit: number };

export function pageOfSessions(ctx: PersonScope, wanted: SessionPage): Sql<SessionRow> {
  return sql`select * from (${selectSessions(ctx, wanted)}) as listed
    order by "createdAt" desc, id desc ${limitTo(wanted)}`;
}

export const countSessions = (ctx: PersonScope, wanted: SessionPage): Sql<{ total: number }> =>
  sql`select count(*)::int as total from (${selectSessions(ctx, wanted)}) as listed`;

function selectSessions(ctx: PersonScope, { userId, isActive }: SessionPage): Sql<SessionRow> {
  return sql`select found.id, found.user_id as "userId", found.started_by as "startedBy", found.address,
      found.user_agent as "userAgent", found.created_at as "createdAt", found.last_seen_at as "lastSeenAt",
      found.expires_at as "expiresAt", found.end_reason as "endReason",
      case found.end_reason when 'expired' then found.expires_at else found.ended_at end as "endedAt"
    from (
      select s.id, s.user_id, s.started_by, s.address, s.user_agent, s.created_at, s.last_seen_at, s.expires_at,
        case when s.ended_at is not null then s.end_reason when s.expires_at <= now() then 'expired'
          when ${isIdle} then 'idle' end as end_reason,
        case when s.ended_at is null and ${isIdle}
          then s.last_seen_at + make_interval(mins => settings.idle_timeout_minutes) else s.ended_at end as ended_at
      from sessions s left join security_settings settings on settings.tenant_id = s.tenant_id
      where ${tenantRows(ctx, 's')} and s.user_id = ${userId}::uuid
    ) as found
    where (found.end_reason is null) = ${isActive}::boolean`;
}

export const userExists = (ctx: PersonScope, userId: string): Sql<{ id: string }> =>
  sql`select u.id from users u where ${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid`;

/** Locks the caller's account until the end of the transaction. */
export const lockedCaller = (ctx: PersonScope): Sql<Pick<User, 'isActive' | 'tokenVersion'>> =>
  sql`select ${USER} from users u
    where ${tenantRows(ctx, 'u')} and u.id = ${ctx.caller.userId}::uuid for no key update`;

const open = sql`s.ended_at is null and s.expires_at > now()`;

/** Returns the session, or no row if it had already ended. */
export const endSession = (
  ctx: PersonScope,
  { userId, sessionId, reason }: { userId: string; sessionId: string; reason: 'logout' | 'ended' },
): Sql<{ id: string }> => sql`update sessions s set ended_at = now(), end_reason = ${reason}
  where ${tenantRows(ctx, 's')} and s.user_id = ${userId}::uuid and s.id = ${sessionId}::uuid and ${open}
  returning s.id`;

/** Ends all open sessions of the user except `kept`, and returns their ids. */
export const endSessions = (ctx: PersonScope, userId: string, kept: string | null): Sql<{ id: string }> =>
  sql`update sessions s set ended_at = now(), end_reason = 'ended'
    where ${tenantRows(ctx, 's')} and s.user_id = ${userId}::uuid and s.id is distinct from ${kept}::uuid
      and ${open}
    returning s.id`;

/** Revokes all tokens of the user, including those without a session. */
export const endTokens = (ctx: PersonScope, userId: string): Sql =>
  sql`update users u set token_version = u.token_version + 1, updated_at = now()
    where ${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid`;

/** Ends idle sessions permanently, so that a longer timeout set later does not reopen them. */
export const markIdleSessions = (ctx: SystemScope): Sql =>
  sql`update sessions s set ended_at = now(), end_reason = 'idle'
    from security_settings settings
    where ${tenantRows(ctx, 's')} and settings.tenant_id = s.tenant_id and ${open} and ${isIdle}`;

export type SessionUse = { id: string; ageS: number };

/**
 * Returns the sessions written. Skips locked rows, so that two servers that write the same sessions cannot
 * deadlock.
 */
export const writeLastSeen = (ctx: SystemScope, seen: SessionUse[]): Sql<{ id: string }> => sql`
  with locked as (
    select s.id, seen.age from sessions s
    join unnest(${seen.map(({ id }) => id)}::uuid[], ${seen.map(({ ageS }) => ageS)}::float8[]) as seen (id, age)
      on seen.id = s.id
    where ${tenantRows(ctx, 's')} and s.ended_at is null for update of s skip locked
  )
  update sessions s set last_seen_at = greatest(s.last_seen_at, now() - make_interval(secs => locked.age))
  from locked where ${tenantRows(ctx, 's')} and s.id = locked.id
  returning s.id`;
