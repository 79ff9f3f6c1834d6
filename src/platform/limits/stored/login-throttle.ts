import { audit } from '../../audit/audit.js';
import type { SystemContext } from '../../context/request-context.js';
import { tenantRows } from '../../db/filters.js';
import { sql, type Sql } from '../../db/statements.js';
import { ApiError } from '../../errors/errors.js';
import type { RateLimit } from '../headers/rate-limits.js';
import type { Scope } from '../../db/scope.js';

/**
 * Consecutive failures, counted in the database by its own clock, so that all replicas share the count. An
 * attempt is counted before it is verified, so at most MAX_FAILURES of any number of concurrent attempts
 * proceed. Success resets the count. It is also reset if the last failure is older than the duration of the
 * lock: this allows no faster guessing than the lock itself, and occasional mistakes do not add up.
 */
export type Throttle = {
  kind: 'password' | 'code' | 'password_reset';
  /** A login name in the form of lower(), known or unknown. For codes, a user's id. */
  subject: Sql;
};

export const MAX_FAILURES = 5;
const LOCK_S = 15 * 60;
const POLICIES = {
  password: 'login-failures-per-user',
  code: 'code-failures-per-user',
  password_reset: 'password-resets-per-user',
} satisfies Record<Throttle['kind'], string>;

/**
 * Returns the limit of a throttle for the response. Without the count: a count that starts again would tell that the user
 * exists and has just logged in.
 */
export const limitOf = (kind: Throttle['kind']): RateLimit => ({
  policy: POLICIES[kind],
  quota: MAX_FAILURES,
  windowSeconds: LOCK_S,
});

const lockTime = sql`make_interval(secs => ${LOCK_S}::int)`;

export const passwordThrottle = (username: string): Throttle => ({
  kind: 'password',
  subject: sql`lower(${username})`,
});
/** Counts requests for a password reset, successful or not. */
export const resetThrottle = (username: string): Throttle => ({
  kind: 'password_reset',
  subject: sql`lower(${username})`,
});
export const codeThrottle = (userId: string): Throttle => ({ kind: 'code', subject: sql`${userId}::text` });

/**
 * Counts an attempt and returns the number of consecutive failures including it. Returns no row while locked.
 * The last attempt sets the lock before it is verified, so that no concurrent attempt can follow it.
 */
export function countAttempt({ tenantId }: Scope, { kind, subject }: Throttle): Sql<{ failures: number }> {
  return sql`insert into login_throttles as throttle (tenant_id, kind, subject, failures, updated_at)
    values (${tenantId}::uuid, ${kind}, ${subject}, 1, now())
    on conflict (tenant_id, kind, subject) do update set
      failures = case when ${isOver} then 1 else throttle.failures + 1 end,
      locked_until = case when not ${isOver} and throttle.failures + 1 >= ${MAX_FAILURES}::int then now() + ${lockTime} end,
      updated_at = now()
    where throttle.locked_until is null or throttle.locked_until <= now()
    returning failures`;
}

const isOver = sql`(throttle.locked_until <= now() or throttle.updated_at <= now() - ${lockTime}) is true`;

/** The remaining seconds of a lock. */
export type LockLeft = { seconds: number };

/** Returns no row if not locked. */
export function lockLeft(ctx: Scope, { kind, subject }: Throttle): Sql<LockLeft> {
  return sql`select ceil(extract(epoch from throttle.locked_until - now()))::int as seconds
    from login_throttles throttle
    where ${tenantRows(ctx, 'throttle')} and throttle.kind = ${kind} and throttle.subject = ${subject}
      and throttle.locked_until > now()`;
}

/** Starts the lock at the failure that caused it. */
export function lock(ctx: Scope, { kind, subject }: Throttle): Sql {
  return sql`update login_throttles throttle set locked_until = now() + ${lockTime}, updated_at = now()
    where ${tenantRows(ctx, 'throttle')} and throttle.kind = ${kind} and throttle.subject = ${subject}
      and throttle.failures >= ${MAX_FAILURES}::int`;
}

/**
 * Records the lock in the audit trail, unless the user is unknown. The actor is the service, also when a user
 * sent the attempts.
 */
export function auditLockOut({ tenantId, requestId }: Scope, userId: string | undefined): Sql {
  const facts =
    userId === undefined ? [] : [{ action: 'user.locked_out', entity: 'user' as const, entityId: userId }];
  return audit({ actor: { kind: 'system', tenantId }, requestId }, ...facts);
}

export function resetFailures(ctx: Scope, { kind, subject }: Throttle): Sql {
  return sql`delete from login_throttles throttle
    where ${tenantRows(ctx, 'throttle')} and throttle.kind = ${kind} and throttle.subject = ${subject}`;
}

/** @throws ApiError too_many_attempts with the remaining seconds in Retry-After */
export async function assertUnlocked(ctx: SystemContext, throttle: Throttle): Promise<void> {
  const [left] = await ctx.read([lockLeft(ctx, throttle)]);
  if (left.length > 0) throw lockedOutError(throttle, left);
}

/** Returns the error while locked, from the rows of lockLeft. */
export const lockedOutError = (throttle: Throttle, [left]: LockLeft[]): ApiError =>
  new ApiError('too_many_attempts', {
    retryAfterSeconds: left?.seconds ?? LOCK_S,
    limit: limitOf(throttle.kind),
  });
