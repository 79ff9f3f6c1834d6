import type { SystemCaller } from '../../../platform/identity/callers.js';
import { passwordMatches } from './passwords.js';
import { accountByName, type Account } from './account-queries.js';
import {
  assertUnlocked,
  countAttempt,
  lock,
  lockedOutError,
  lockLeft,
  MAX_FAILURES,
  passwordThrottle,
} from './throttle.js';
import { auditStatement } from '../../../platform/audit/audit.js';
import { pipeline } from '../../../platform/db/transaction.js';
import type { Deps } from '../../dependencies.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { SecurityEventFields } from '../../../platform/logging/security-log.js';

export type PasswordAttempt = {
  tenantId: string;
  username: string;
  password: string;
  address: string;
  requestId: string;
};

/**
 * Runs `work` if the password is correct, still inside the limit on concurrent hashes, so that further hashes
 * in `work` are limited too. Failed attempts of all operations count together. `work` must reset the count in
 * the transaction that checks that the password is still the same.
 * @param refuse returns the error for a wrong password, an unknown user or an expired password
 * @throws ApiError too_many_attempts, overloaded, or the error of `refuse`
 */
export async function withPassword<Result>(
  deps: Deps,
  attempt: PasswordAttempt,
  refuse: () => ApiError,
  work: (account: Account) => Promise<Result>,
): Promise<Result> {
  const { tenantId, username, address } = attempt;
  const attempted: AttemptedUser = {};
  try {
    await deps.loginLimiter.assertMayTry(tenantId, address);
    // Checked before the queue, so that many attempts on a locked name do not delay others.
    await assertUnlocked(deps.db, callerOf(attempt), passwordThrottle(username));
    return await deps.loginLimiter.withLimit(tenantId, username, async () => {
      const account = await verifyPassword(deps, attempt, attempted);
      if (!account) throw refuse();
      return work(account);
    });
  } catch (error) {
    if (error instanceof ApiError)
      deps.securityLog('password.refused', { ...factsOf(deps, attempt, attempted), code: error.code });
    throw error;
  }
}

/** The user of the name, once it is known. */
type AttemptedUser = { userId?: string };

const NAME_HASH_LENGTH = 16;

function factsOf(
  { secrets }: Deps,
  attempt: PasswordAttempt,
  { userId }: AttemptedUser,
): SecurityEventFields {
  const { requestId: reqId, tenantId, address, username } = attempt;
  const nameHash = secrets.lookupHash(username.toLowerCase(), 'user_name').slice(0, NAME_HASH_LENGTH);
  return { reqId, tenantId, address, userId, nameHash };
}

/** Returns the account if the password is correct. */
async function verifyPassword(
  deps: Deps,
  attempt: PasswordAttempt,
  attempted: AttemptedUser,
): Promise<Account | undefined> {
  // Checked again, because requests before it in the queue may have exhausted the limit of the address.
  await deps.loginLimiter.assertMayTry(attempt.tenantId, attempt.address);
  const { failures, account } = await beginAttempt(deps, attempt);
  if (account) attempted.userId = account.id;
  const isRight = await passwordMatches(attempt.password, account?.passwordHash);
  if (account && isRight && !account.isPasswordExpired) return account;

  await deps.loginLimiter.countFailure(attempt.tenantId, attempt.address);
  if (failures >= MAX_FAILURES) await lockOut(deps, attempt, account);
  return undefined;
}

/** Counts the attempt and selects the account, in one short transaction that ends before the hash begins. */
async function beginAttempt(
  { db }: Deps,
  attempt: PasswordAttempt,
): Promise<{ failures: number; account: Account | undefined }> {
  const caller = callerOf(attempt);
  const throttle = passwordThrottle(attempt.username);
  const [counted, left, accounts] = await pipeline(db, caller, [
    countAttempt(caller, throttle),
    lockLeft(db, caller, throttle),
    accountByName(db, caller, attempt.username),
  ]);
  if (!counted?.[0]) throw lockedOutError(left ?? []);
  // accountByName selects exactly these columns.
  return { failures: Number(counted[0]['failures']), account: accounts?.[0] as Account | undefined };
}

/**
 * Executes the same statements for an unknown name, but without an audit entry, because there is no user to
 * record it for.
 */
async function lockOut(deps: Deps, attempt: PasswordAttempt, account: Account | undefined): Promise<void> {
  const { db } = deps;
  const caller = callerOf(attempt);
  const facts = account ? [{ action: 'user.locked_out', entity: 'user' as const, entityId: account.id }] : [];
  await pipeline(db, caller, [
    lock(db, caller, passwordThrottle(attempt.username)),
    auditStatement(caller, attempt.requestId, facts),
  ]);
  deps.securityLog('account.locked', factsOf(deps, attempt, account ? { userId: account.id } : {}));
}

const callerOf = ({ tenantId }: { tenantId: string }): SystemCaller => ({ kind: 'system', tenantId });
