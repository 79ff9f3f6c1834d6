import { STATION_SECONDS } from '../../../platform/access/station-cookie.js';
import { columns } from '../../../platform/db/columns.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { PersonScope, SystemScope } from '../../../platform/db/scope.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import { newId } from '../../../platform/values/ids.js';

/** A user at a station. `deviceHash` is the keyed hash of the station's cookie. */
export type Place = { deviceHash: string; userId: string };

/** Wrong PINs in a row, after which the station needs the password. */
export const MAX_PIN_FAILURES = 5;

const MAX_WORKERS = 50;
const MAX_STATIONS = 20;

const WORKER = columns('StationWorker', 'w', ['userId', 'expiresAt']);
const USER = columns('User', 'u', ['fullName', 'username']);

/** Whether the row `w` holds for the user `u`, whatever the number of wrong PINs. */
const isRemembered = sql`w.expires_at > now() and w.token_version = u.token_version
  and u.pin_hash is not null and u.is_active and u.role = 'warehouse'`;

/** Whether the user `u` may take over the station of the row `w` with the PIN. */
const mayUsePin = sql`w.failures < ${MAX_PIN_FAILURES}::int and ${isRemembered}`;

export type StationWorkerRow = { userId: string; expiresAt: Date; fullName: string; username: string };

export const workersOf = (ctx: SystemScope, deviceHash: string): Sql<StationWorkerRow> =>
  sql`select ${WORKER}, ${USER}
    from station_workers w join users u on u.tenant_id = w.tenant_id and u.id = w.user_id and ${tenantRows(ctx, 'u')}
    where ${tenantRows(ctx, 'w')} and w.device_hash = ${deviceHash} and ${mayUsePin}
    order by u.full_name, u.id limit ${MAX_WORKERS}::int`;

export type PinAttempt = { pinHash: string; failures: number };

/** Counts the attempt as a wrong one, before the PIN is compared. Returns no row if no PIN of the user works here. */
export const countPinAttempt = (ctx: SystemScope, { deviceHash, userId }: Place): Sql<PinAttempt> =>
  sql`update station_workers w set failures = w.failures + 1
    from users u
    where ${tenantRows(ctx, 'w')} and w.device_hash = ${deviceHash} and w.user_id = ${userId}::uuid
      and ${tenantRows(ctx, 'u')} and u.tenant_id = w.tenant_id and u.id = w.user_id and ${mayUsePin}
    returning w.failures, u.pin_hash as "pinHash"`;

/**
 * Ends the count of wrong PINs after a right one. Changes no row if the PIN has been replaced since it was compared, or the user's
 * tokens have been revoked. Lock the user before.
 */
export const acceptPin = (ctx: SystemScope, { deviceHash, userId }: Place, pinHash: string): Sql =>
  sql`update station_workers w set failures = 0
    from users u
    where ${tenantRows(ctx, 'w')} and w.device_hash = ${deviceHash} and w.user_id = ${userId}::uuid
      and ${tenantRows(ctx, 'u')} and u.tenant_id = w.tenant_id and u.id = w.user_id and ${isRemembered}
      and u.pin_hash = ${pinHash}`;

/**
 * Remembers the login of the caller's session. Returns no row for a user without a PIN, and for a session that a PIN has started: only the
 * password begins the time anew, with the second factor if there is one, which a change of the password does not ask for.
 */
export function rememberLogin(ctx: PersonScope, deviceHash: string, sessionId: string): Sql<{ id: string }> {
  return sql`insert into station_workers as known (tenant_id, id, device_hash, user_id, token_version, expires_at)
    select u.tenant_id, ${newId()}::uuid, ${deviceHash}, u.id, u.token_version,
      s.created_at + make_interval(secs => ${STATION_SECONDS}::int)
    from sessions s join users u on u.tenant_id = s.tenant_id and u.id = s.user_id and ${tenantRows(ctx, 'u')}
    where ${tenantRows(ctx, 's')} and s.id = ${sessionId}::uuid and s.user_id = ${ctx.caller.userId}::uuid
      and s.started_by <> 'pin' and (s.started_by <> 'password_change' or not u.two_factor_enabled)
      and u.pin_hash is not null
    on conflict (tenant_id, device_hash, user_id) do update set token_version = excluded.token_version,
      failures = case when excluded.expires_at > known.expires_at then 0 else known.failures end,
      remembered_at = now(), expires_at = excluded.expires_at
    returning known.id`;
}

/** Whether the database knows the station. Somebody may have made up the text of the cookie. */
export const stationExists = (ctx: PersonScope, deviceHash: string): Sql<{ isKnown: boolean }> =>
  sql`select exists (select from station_workers w where ${tenantRows(ctx, 'w')} and w.device_hash = ${deviceHash}) as "isKnown"`;

/** The state of the caller's PIN. `rememberedUntil` is null if it does not work at the station. */
export type OwnPin = { hasPin: boolean; rememberedUntil: Date | null };

export const ownPin = (ctx: PersonScope, deviceHash: string): Sql<OwnPin> =>
  sql`select u.pin_hash is not null as "hasPin", w.expires_at as "rememberedUntil"
    from users u left join station_workers w on ${tenantRows(ctx, 'w')} and w.tenant_id = u.tenant_id and w.user_id = u.id
      and w.device_hash = ${deviceHash} and ${mayUsePin}
    where ${tenantRows(ctx, 'u')} and u.id = ${ctx.caller.userId}::uuid`;

/** Forgets the stations of the caller but the newest ones. New stations do not push out one where wrong PINs count. */
export const forgetOldStations = (ctx: PersonScope): Sql =>
  sql`delete from station_workers w
    where ${tenantRows(ctx, 'w')} and w.user_id = ${ctx.caller.userId}::uuid and w.id not in (
      select newest.id from station_workers newest
      where ${tenantRows(ctx, 'newest')} and newest.user_id = ${ctx.caller.userId}::uuid
      order by newest.failures > 0 and newest.expires_at > now() desc, newest.remembered_at desc, newest.id desc
      limit ${MAX_STATIONS}::int)`;
