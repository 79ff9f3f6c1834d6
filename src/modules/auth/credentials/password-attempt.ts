import { accountByName, replaceHash, usualHashCost, type Account } from './account-queries.js';
import {
  assertUnlocked,
  auditLockOut,
  countAttempt,
  limitOf,
  lock,
  lockedOutError,
  lockLeft,
  MAX_FAILURES,
  passwordThrottle,
} from '../../../platform/limits/stored/login-throttle.js';
import type { LoginLimiter } from '../../../platform/limits/login-limiter.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import type { Passwords } from './passwords.js';
import type { RequestContext, SystemContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { SecurityEventFields, SecurityLog } from '../../../platform/logging/security-log.js';

/** The dependencies of password and code attempts besides the context. */
export type AttemptDeps = {
  loginLimiter: LoginLimiter;
  passwords: Passwords;
  secrets: Secrets;
  securityLog: SecurityLog;
};

export type PasswordAttempt = { username: string; password: string; address: string };

/**
 * Runs `work` if the password is correct, still inside the limit on concurrent hashes, so that further hashes
 * in `work` are limited too. Failed attempts of all operations count together. `work` must reset the count in
 * the transaction that checks that the password is still the same.
 * @param refuse returns the error for a wrong password, an unknown user or an expired password
 * @throws ApiError too_many_attempts, overloaded, or the error of `refuse`
 */
export async function withPassword<Result>(
  requestContext: RequestContext,
  deps: AttemptDeps,
  attempt: PasswordAttempt,
  refuse: () => ApiError,
  work: (account: Account) => Promise<Result>,
): Promise<Result> {
  // Couriers have no access to throttles.
  const ctx = requestContext.asTenant();
  const { username, address } = attempt;
  const attempted: AttemptedUser = {};
  ctx.noteRateLimit(limitOf('password'));
  try {
    await deps.loginLimiter.assertMayTry(ctx, address);
    // Checked before the database, so that a flood that the queue refuses costs no transactions.
    await deps.loginLimiter.assertSpace(ctx.tenantId, username, address);
    await deps.loginLimiter.assertMayTryName(ctx.tenantId, username, address);
    // Checked before the queue, so that many attempts on a locked name do not delay others.
    await assertUnlocked(ctx, passwordThrottle(username));
    const verify = async () => {
      const account = await verifyPassword(ctx, deps, attempt, attempted);
      if (!account) throw refuse();
      return work(account);
    };
    return await deps.loginLimiter.withLimit(ctx.tenantId, username, verify, address);
  } catch (error) {
    if (error instanceof ApiError) {
      if (isOfLock(error)) await deps.loginLimiter.countLocked(ctx.tenantId, username, address);
      deps.securityLog('password.refused', {
        ...eventFields(ctx, deps, attempt, attempted),
        code: error.code,
      });
    }
    throw error;
  }
}

/** Whether the attempt was refused because its name is locked. */
const isOfLock = ({ detail }: ApiError) => detail.limit?.policy === limitOf('password').policy;

/** The user of the name, once it is known. */
type AttemptedUser = { userId?: string };

const NAME_HASH_LENGTH = 16;

function eventFields(
  { tenantId, requestId: reqId }: SystemContext,
  { secrets }: AttemptDeps,
  { address, username }: PasswordAttempt,
  { userId }: AttemptedUser,
): SecurityEventFields {
  const nameHash = secrets.lookupHash(username.toLowerCase(), 'user_name').slice(0, NAME_HASH_LENGTH);
  return { reqId, tenantId, address, userId, nameHash };
}

/** Returns the account if the password is correct. */
async function verifyPassword(
  ctx: SystemContext,
  deps: AttemptDeps,
  attempt: PasswordAttempt,
  attempted: AttemptedUser,
): Promise<Account | undefined> {
  // Checked again, because requests before it in the queue may have exhausted the limit of the address.
  await deps.loginLimiter.assertMayTry(ctx, attempt.address);
  const { failures, account, usualCost } = await beginAttempt(ctx, attempt.username);
  if (account) attempted.userId = account.id;
  const isRight = await deps.passwords.matches(attempt.password, account?.passwordHash, usualCost);
  const accepted = account && isRight && !account.isPasswordExpired;
  const current = accepted ? await withConfiguredCost(ctx, deps, attempt, account) : undefined;
  if (current) return current;

  await deps.loginLimiter.countFailure(ctx.tenantId, attempt.address);
  if (failures >= MAX_FAILURES) await lockOut(ctx, deps, attempt, account);
  return undefined;
}

/**
 * Hashes a correct password again if its hash has another cost than the configured one. So the time of a wrong password becomes
 * the same for all users who log in.
 *
 * @returns the account with its present hash, or undefined if the password was changed meanwhile
 */
async function withConfiguredCost(
  ctx: SystemContext,
  { passwords }: AttemptDeps,
  { username, password }: PasswordAttempt,
  account: Account,
): Promise<Account | undefined> {
  if (!passwords.isOutdated(account.passwordHash)) return account;
  const hash = await passwords.hash(password);
  // The hash is replaced also if the second factor is wrong.
  const [replaced, [fresh]] = await ctx.write(
    [replaceHash(ctx, account, hash), accountByName(ctx, username)],
    { keptIfRefused: true },
  );
  if (replaced.length > 0) return { ...account, passwordHash: hash };
  // A concurrent login has replaced it, or the password is another one now.
  const isSame = fresh && (await passwords.matches(password, fresh.passwordHash));
  return isSame && !fresh.isPasswordExpired ? fresh : undefined;
}

/** Counts the attempt and selects the account, in one short transaction that ends before the hash begins. */
async function beginAttempt(
  ctx: SystemContext,
  username: string,
): Promise<{ failures: number; account: Account | undefined; usualCost: number | undefined }> {
  const throttle = passwordThrottle(username);
  // The attempt counts, also when the request is refused.
  const [[counted], left, [account], [usual]] = await ctx.write(
    [countAttempt(ctx, throttle), lockLeft(ctx, throttle), accountByName(ctx, username), usualHashCost(ctx)],
    { keptIfRefused: true },
  );
  if (!counted) throw lockedOutError(throttle, left);
  return { failures: counted.failures, account, usualCost: usual?.cost };
}

/**
 * Executes the same statements for an unknown name, but without an audit entry, because there is no user to
 * record it for.
 */
async function lockOut(
  ctx: SystemContext,
  deps: AttemptDeps,
  attempt: PasswordAttempt,
  account: Account | undefined,
): Promise<void> {
  // The lock is stored although the request is refused.
  await ctx.write([lock(ctx, passwordThrottle(attempt.username)), auditLockOut(ctx, account?.id)], {
    keptIfRefused: true,
  });
  deps.securityLog('account.locked', eventFields(ctx, deps, attempt, account ? { userId: account.id } : {}));
}
