import type { Caller } from '../../../platform/identity/callers.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { pipeline, sql, type Db, type Rows, type Sql } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';

/**
 * Failures in a row, counted in the database by its own clock, so that all replicas count together.
 *
 * An attempt is counted before it is judged: of any number at once, MAX_FAILURES are let through. Success
 * forgets the count, and so does time: failures in a row are over when the last is older than the lock would
 * be. That lets nobody guess faster than the lock itself does, and keeps a slip a month from adding up.
 */
export type Throttle = {
  kind: 'password' | 'code' | 'password_reset';
  /** A login name as lower() spells it, known or not; for codes, a user's id. */
  subject: Sql;
};

export const MAX_FAILURES = 5;
const LOCK_S = 15 * 60;
const lockTime = sql`make_interval(secs => ${LOCK_S}::int)`;

export const passwordThrottle = (username: string): Throttle => ({
  kind: 'password',
  subject: sql`lower(${username})`,
});
/** Requests for a reset, which are counted whether or not they succeed. */
export const resetThrottle = (username: string): Throttle => ({
  kind: 'password_reset',
  subject: sql`lower(${username})`,
});
export const codeThrottle = (userId: string): Throttle => ({ kind: 'code', subject: sql`${userId}::text` });

/**
 * Counts an attempt and answers the failures in a row should it fail; no row while locked. The last attempt
 * locks before it is judged, so that none slips in behind it.
 */
export function countAttempt(caller: Caller, { kind, subject }: Throttle): Sql {
  return sql`insert into login_throttles as throttle (tenant_id, kind, subject, failures, updated_at)
    values (${caller.tenantId}::uuid, ${kind}, ${subject}, 1, now())
    on conflict (tenant_id, kind, subject) do update set
      failures = case when ${isOver} then 1 else throttle.failures + 1 end,
      locked_until = case when not ${isOver} and throttle.failures + 1 >= ${MAX_FAILURES}::int then now() + ${lockTime} end,
      updated_at = now()
    where throttle.locked_until is null or throttle.locked_until <= now()
    returning failures`;
}

const isOver = sql`(throttle.locked_until <= now() or throttle.updated_at <= now() - ${lockTime}) is true`;

/** Seconds that the lock has left; no row when it is not locked. */
export function lockLeft(db: Db, caller: Caller, { kind, subject }: Throttle): Sql {
  return sql`select ceil(extract(epoch from throttle.locked_until - now()))::int as seconds
    from login_throttles throttle
    where ${tenantRows(db, caller, 'throttle')} and throttle.kind = ${kind} and throttle.subject = ${subject}
      and throttle.locked_until > now()`;
}

/** Lets the lock begin with the failure that caused it. */
export function lock(db: Db, caller: Caller, { kind, subject }: Throttle): Sql {
  return sql`update login_throttles throttle set locked_until = now() + ${lockTime}, updated_at = now()
    where ${tenantRows(db, caller, 'throttle')} and throttle.kind = ${kind} and throttle.subject = ${subject}
      and throttle.failures >= ${MAX_FAILURES}::int`;
}

export function forgetFailures(db: Db, caller: Caller, { kind, subject }: Throttle): Sql {
  return sql`delete from login_throttles throttle
    where ${tenantRows(db, caller, 'throttle')} and throttle.kind = ${kind} and throttle.subject = ${subject}`;
}

/** @throws ApiError too_many_attempts with the lock's Retry-After */
export async function assertUnlocked(db: Db, caller: Caller, throttle: Throttle): Promise<void> {
  const [found] = await pipeline(db, caller, [lockLeft(db, caller, throttle)]);
  if (found?.[0]) throw lockedOut(found);
}

/** The refusal while locked, from what lockLeft answered. */
export function lockedOut(left: Rows): ApiError {
  return new ApiError('too_many_attempts', {
    retryAfterSeconds: Number(left[0]?.['seconds'] ?? LOCK_S),
  });
}
