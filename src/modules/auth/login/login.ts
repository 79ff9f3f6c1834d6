import { auditLater } from '../../../platform/audit/audit.js';
import { withPassword, type AttemptDeps } from '../credentials/password-attempt.js';
import { accountById, lockUserForLogin, type Account, type SignIn } from '../credentials/account-queries.js';
import { resetFailures, passwordThrottle } from '../../../platform/limits/stored/login-throttle.js';
import { newPreauthToken, storePreauthToken } from './second-step.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import type { SystemTx } from '../../../platform/db/scope.js';
import { beginSession, recordLoginNetwork, type Client } from '../../sessions/public.js';

export type LoginAttempt = Client & { username: string | undefined; password: string | undefined };

/** A finished login, or a token that must be sent with the second factor. */
export type LoginOutcome = SignIn | { preauthToken: string };

type Credentials = Client & { username: string; password: string };

/**
 * Verifies a user name and a password. Without the correct password, neither the response nor its time
 * reveals whether the user exists or is disabled.
 * @throws ApiError credentials_required, credentials_invalid, account_disabled, too_many_attempts, overloaded
 */
export async function logIn(
  ctx: SystemContext,
  deps: AttemptDeps,
  attempt: LoginAttempt,
): Promise<LoginOutcome> {
  const credentials = requireCredentials(attempt);
  const refuse = () => new ApiError('credentials_invalid');
  return withPassword(ctx, deps, credentials, refuse, (account) =>
    finishPasswordStep(ctx, deps, credentials, account),
  );
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
  ctx: SystemContext,
  deps: AttemptDeps,
  credentials: Credentials,
  account: Account,
): Promise<LoginOutcome> {
  const preauthToken = newPreauthToken();
  const outcome = await ctx.write(async (tx) => {
    // Read again, because the user may have been disabled or have changed the password during the hash.
    const [, [fresh]] = await tx.query([lockUserForLogin(ctx, account.id), accountById(ctx, account.id)]);
    if (fresh?.passwordHash !== account.passwordHash || fresh.isPasswordExpired)
      return new ApiError('credentials_invalid');
    await tx.count(resetFailures(ctx, passwordThrottle(credentials.username)));
    if (!fresh.isEnabled) return new ApiError('account_disabled');
    if (!fresh.twoFactorEnabled) return recordLogin(tx, credentials, fresh);
    await storePreauthToken(tx, deps.secrets, fresh.id, preauthToken);
    return { preauthToken };
  });
  // Thrown after the commit: inside the transaction it would roll back the reset of the failures.
  if (outcome instanceof ApiError) throw outcome;
  const { requestId: reqId, tenantId } = ctx;
  const event = 'preauthToken' in outcome ? 'login.code_required' : 'login.succeeded';
  if (!('preauthToken' in outcome)) deps.loginLimiter.noteLogin(tenantId, account.id, credentials.address);
  deps.securityLog(event, { reqId, tenantId, address: credentials.address, userId: account.id });
  return outcome;
}

async function recordLogin(tx: SystemTx, client: Client, account: Account): Promise<LoginOutcome> {
  auditLater(tx, 'user.logged_in', account.id, { by: account.id });
  const sessionId = await beginSession(tx, account, 'login', client);
  await recordLoginNetwork(tx, account.id, client);
  return { account, sessionId };
}
