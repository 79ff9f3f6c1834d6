import type { SystemCaller } from '../../../platform/identity/callers.js';
import { withPassword } from '../credentials/password-attempt.js';
import { lockAccountForLogin, type Account } from '../credentials/account-queries.js';
import type { SignIn } from '../sign-in.js';
import { resetFailures, passwordThrottle } from '../credentials/throttle.js';
import { newPreauthToken, storePreauthToken } from './second-step.js';
import { auditStatement } from '../../../platform/audit/audit.js';
import { transaction, type Tx } from '../../../platform/db/transaction.js';
import type { Deps } from '../../dependencies.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import { beginSession, noteLoginNetwork } from '../../sessions/public.js';

export type LoginAttempt = {
  tenantId: string;
  username: string | undefined;
  password: string | undefined;
  address: string;
  userAgent: string | undefined;
  requestId: string;
};

/** A finished login, or a token that must be sent with the second factor. */
export type LoginOutcome = SignIn | { preauthToken: string };

type Credentials = LoginAttempt & { username: string; password: string };

/**
 * Verifies a user name and a password. Without the correct password, neither the response nor its time
 * reveals whether the user exists or is disabled.
 * @throws ApiError credentials_required, credentials_invalid, account_disabled, too_many_attempts, overloaded
 */
export async function logIn(deps: Deps, attempt: LoginAttempt): Promise<LoginOutcome> {
  const credentials = requireCredentials(attempt);
  const refuse = () => new ApiError('credentials_invalid');
  return withPassword(deps, credentials, refuse, (account) => finishPasswordStep(deps, credentials, account));
}

function requireCredentials(attempt: LoginAttempt): Credentials {
  const { username = '', password = '' } = attempt;
  const given = Object.entries({ username, password });
  const errors = given
    .filter(([, value]) => value.trim() === '')
    .map(([field]) => fieldError(field, 'credential'));
  if (errors.length > 0) throw new ApiError('credentials_required', { errors });
  return { ...attempt, username, password };
}

async function finishPasswordStep(
  deps: Deps,
  credentials: Credentials,
  account: Account,
): Promise<LoginOutcome> {
  const preauthToken = newPreauthToken();
  const outcome = await transaction(deps.db, callerOf(credentials), async (tx) => {
    // Read again, because the user may have been disabled or have changed the password during the hash.
    const [fresh] = await tx.query<Account>(lockAccountForLogin(deps.db, tx.caller, account.id));
    if (fresh?.passwordHash !== account.passwordHash || fresh.isPasswordExpired)
      return new ApiError('credentials_invalid');
    await tx.execute(resetFailures(deps.db, tx.caller, passwordThrottle(credentials.username)));
    if (!fresh.isEnabled) return new ApiError('account_disabled');
    if (!fresh.twoFactorEnabled) return recordLogin(deps, tx, credentials, fresh);
    await storePreauthToken(deps, tx, fresh.id, preauthToken);
    return { preauthToken };
  });
  // Thrown after the commit: inside the transaction it would roll back the reset of the failures.
  if (outcome instanceof ApiError) throw outcome;
  const { requestId: reqId, tenantId, address } = credentials;
  const event = 'preauthToken' in outcome ? 'login.code_required' : 'login.succeeded';
  deps.securityLog(event, { reqId, tenantId, address, userId: account.id });
  return outcome;
}

async function recordLogin(
  deps: Deps,
  tx: Tx,
  credentials: Credentials,
  account: Account,
): Promise<LoginOutcome> {
  const fact = { action: 'user.logged_in', entity: 'user' as const, entityId: account.id };
  await tx.execute(auditStatement(tx.caller, credentials.requestId, [fact]));
  const sessionId = await beginSession(tx, account, 'login', credentials);
  await noteLoginNetwork(deps.db, tx, account.id, credentials);
  return { account, sessionId };
}

const callerOf = ({ tenantId }: { tenantId: string }): SystemCaller => ({ kind: 'system', tenantId });
