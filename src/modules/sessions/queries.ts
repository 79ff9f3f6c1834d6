import type { Caller, SystemCaller } from '../../platform/identity/callers.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';
import { oneLine } from '../../platform/mail/plain-text.js';

export type StartedBy = 'login' | 'verify_2fa' | 'password_change' | 'two_factor_change';

export type NewSession = {
  id: string;
  userId: string;
  startedBy: StartedBy;
  address: string;
  userAgent: string | undefined;
  expiresAtS: number;
};

export function insertSession({ tenantId }: Caller, session: NewSession): Sql {
  const { id, userId, startedBy, address, userAgent, expiresAtS } = session;
  return sql`insert into sessions (tenant_id, id, user_id, started_by, address, user_agent, expires_at)
    values (${tenantId}::uuid, ${id}::uuid, ${userId}::uuid, ${startedBy}, ${address},
      ${oneLine(userAgent ?? '') || null}, to_timestamp(${expiresAtS}::float8))`;
}

export const otherNetworks = (db: Db, caller: Caller, userId: string, network: string): Sql =>
  sql`select exists (select from known_networks n where ${tenantRows(db, caller, 'n')}
    and n.user_id = ${userId}::uuid and n.network <> ${network}) as exist`;

/** xmax is 0 if the row was inserted, and not 0 if it already existed. */
export const upsertNetwork = ({ tenantId }: Caller, userId: string, network: string): Sql =>
  sql`insert into known_networks (tenant_id, user_id, network)
    values (${tenantId}::uuid, ${userId}::uuid, ${network})
    on conflict (tenant_id, user_id, network) do update set last_seen_at = now()
    returning xmax = 0 as "isNew"`;

/** The same rule as in the database function enter_as_user. */
const isIdle = sql`coalesce(s.last_seen_at <= now()
  - make_interval(mins => settings.idle_timeout_minutes, secs => 15), false)`;

export type SessionRow = {
  id: string;
  user_id: string;
  started_by: StartedBy;
  address: string;
  user_agent: string | null;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  ended_at: Date | null;
  end_reason: 'logout' | 'ended' | 'revoked' | 'idle' | 'expired' | null;
};

export type SessionPage = { userId: string; isActive: boolean; page: number; limit: number };

export function pageOfSessions(db: Db, caller: SystemCaller, wanted: SessionPage): Sql {
  const { page, limit } = wanted;
  return sql`select * from (${selectSessions(db, caller, wanted)}) as listed
    order by created_at desc, id desc limit ${limit}::int offset ${(page - 1) * limit}::bigint`;
}

export const countSessions = (db: Db, caller: SystemCaller, wanted: SessionPage): Sql =>
  sql`select count(*)::int as total from (${selectSessions(db, caller, wanted)}) as listed`;

function selectSessions(db: Db, caller: SystemCaller, { userId, isActive }: SessionPage): Sql {
  return sql`select judged.id, judged.user_id, judged.started_by, judged.address, judged.user_agent, judged.created_at,
      judged.last_seen_at, judged.expires_at, judged.end_reason,
      case judged.end_reason when 'expired' then judged.expires_at else judged.ended_at end as ended_at
    from (
      select s.id, s.user_id, s.started_by, s.address, s.user_agent, s.created_at, s.last_seen_at, s.expires_at,
        case when s.ended_at is not null then s.end_reason when s.expires_at <= now() then 'expired'
          when ${isIdle} then 'idle' end as end_reason,
        case when s.ended_at is null and ${isIdle}
          then s.last_seen_at + make_interval(mins => settings.idle_timeout_minutes) else s.ended_at end as ended_at
      from sessions s left join security_settings settings on settings.tenant_id = s.tenant_id
      where ${tenantRows(db, caller, 's')} and s.user_id = ${userId}::uuid
    ) as judged
    where (judged.end_reason is null) = ${isActive}::boolean`;
}

export const userExists = (db: Db, caller: SystemCaller, userId: string): Sql =>
  sql`select u.id from users u where ${tenantRows(db, caller, 'u')} and u.id = ${userId}::uuid`;

export const sessionExists = (db: Db, caller: SystemCaller, userId: string, sessionId: string): Sql =>
  sql`select s.id from sessions s
    where ${tenantRows(db, caller, 's')} and s.user_id = ${userId}::uuid and s.id = ${sessionId}::uuid`;

const open = sql`s.ended_at is null and s.expires_at > now()`;

/** Returns the session, or no row if it had already ended. */
export const endSession = (
  db: Db,
  caller: SystemCaller,
  { userId, sessionId, reason }: { userId: string; sessionId: string; reason: 'logout' | 'ended' },
): Sql => sql`update sessions s set ended_at = now(), end_reason = ${reason}
  where ${tenantRows(db, caller, 's')} and s.user_id = ${userId}::uuid and s.id = ${sessionId}::uuid and ${open}
  returning s.id`;

/** Ends all open sessions of the user except `kept`, and returns their ids. */
export const endSessions = (db: Db, caller: SystemCaller, userId: string, kept: string | null): Sql =>
  sql`update sessions s set ended_at = now(), end_reason = 'ended'
    where ${tenantRows(db, caller, 's')} and s.user_id = ${userId}::uuid and s.id is distinct from ${kept}::uuid
      and ${open}
    returning s.id`;

/** Revokes all tokens of the user, including those without a session. */
export const endTokens = (db: Db, caller: SystemCaller, userId: string): Sql =>
  sql`update users u set token_version = u.token_version + 1, updated_at = now()
    where ${tenantRows(db, caller, 'u')} and u.id = ${userId}::uuid`;

export const deletePreauthTokens = (db: Db, caller: SystemCaller, userId: string): Sql =>
  sql`delete from preauth_tokens p where ${tenantRows(db, caller, 'p')} and p.user_id = ${userId}::uuid`;

/** Ends idle sessions permanently, so that a longer timeout set later does not reopen them. */
export const markIdleSessions = (db: Db, caller: SystemCaller): Sql =>
  sql`update sessions s set ended_at = now(), end_reason = 'idle'
    from security_settings settings
    where ${tenantRows(db, caller, 's')} and settings.tenant_id = s.tenant_id and ${open} and ${isIdle}`;

export type SessionUse = { id: string; ageS: number };

/**
 * Returns the sessions written. Skips locked rows, so that two servers that write the same sessions cannot
 * deadlock.
 */
export const writeLastSeen = (db: Db, caller: SystemCaller, seen: SessionUse[]): Sql => sql`
  with locked as (
    select s.id, seen.age from sessions s
    join unnest(${seen.map(({ id }) => id)}::uuid[], ${seen.map(({ ageS }) => ageS)}::float8[]) as seen (id, age)
      on seen.id = s.id
    where ${tenantRows(db, caller, 's')} and s.ended_at is null for update of s skip locked
  )
  update sessions s set last_seen_at = greatest(s.last_seen_at, now() - make_interval(secs => locked.age))
  from locked where ${tenantRows(db, caller, 's')} and s.id = locked.id
  returning s.id`;
