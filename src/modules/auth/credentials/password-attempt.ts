import type { SystemCaller } from '../../../platform/identity/callers.js';
import { isPassword } from './passwords.js';
import { accountByName, type Account } from './account-queries.js';
import {
  assertUnlocked,
  countAttempt,
  lock,
  lockedOut,
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
 * Does `work` for whoever knows the user's password, in the turn that the hash took: what hashes again there is
 * bounded too. Wrong passwords are counted together wherever one is asked for. `work` forgets them, in the
 * transaction that makes sure that the password is still the same.
 *
 * @param refuse what to answer a wrong password, which one for an unknown user and one that has expired are too
 * @throws ApiError too_many_attempts, overloaded, or the refusal
 */
export async function withPassword<Result>(
  deps: Deps,
  attempt: PasswordAttempt,
  refuse: () => ApiError,
  work: (account: Account) => Promise<Result>,
): Promise<Result> {
  const { tenantId, username, address } = attempt;
  const seen: Seen = {};
  try {
    await deps.loginLimiter.assertMayTry(tenantId, address);
    // asked before the queue, where a flood on a locked name would stand in others' way
    await assertUnlocked(deps.db, callerOf(attempt), passwordThrottle(username));
    return await deps.loginLimiter.withLimit(tenantId, username, async () => {
      const account = await verifyPassword(deps, attempt, seen);
      if (!account) throw refuse();
      return work(account);
    });
  } catch (error) {
    if (error instanceof ApiError)
      deps.securityLog('password.refused', { ...factsOf(deps, attempt, seen), code: error.code });
    throw error;
  }
}

/** Whose name it was, once that is known. */
type Seen = { userId?: string };

const NAME_HASH_LENGTH = 16;

function factsOf({ secrets }: Deps, attempt: PasswordAttempt, { userId }: Seen): SecurityEventFields {
  const { requestId: reqId, tenantId, address, username } = attempt;
  const nameHash = secrets.lookupHash(username.toLowerCase(), 'user_name').slice(0, NAME_HASH_LENGTH);
  return { reqId, tenantId, address, userId, nameHash };
}

/** The account that the password opens. */
async function verifyPassword(
  deps: Deps,
  attempt: PasswordAttempt,
  seen: Seen,
): Promise<Account | undefined> {
  // again, because those before it in the queue may have used up what the address had left
  await deps.loginLimiter.assertMayTry(attempt.tenantId, attempt.address);
  const { failures, account } = await beginAttempt(deps, attempt);
  if (account) seen.userId = account.id;
  const isRight = await isPassword(attempt.password, account?.passwordHash);
  if (account && isRight && !account.isPasswordExpired) return account;

  await deps.loginLimiter.countFailure(attempt.tenantId, attempt.address);
  if (failures >= MAX_FAILURES) await lockOut(deps, attempt, account);
  return undefined;
}

/** Counts the attempt and looks the user up, in one short transaction that ends before the hash begins. */
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
  if (!counted?.[0]) throw lockedOut(left ?? []);
  // as: the shape that accountByName selects
  return { failures: Number(counted[0]['failures']), account: accounts?.[0] as Account | undefined };
}

/** The same statements for an unknown name, which has nothing that a fact could be noted of. */
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
