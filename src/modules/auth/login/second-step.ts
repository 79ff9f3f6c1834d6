import { auditLater } from '../../../platform/audit/audit.js';
import { randomBytes } from 'node:crypto';
import { verifyCode, tryCode, type Factor } from '../credentials/code-attempt.js';
import { limitOf } from '../../../platform/limits/stored/login-throttle.js';
import {
  accountById,
  lockUserForLogin,
  consumePreauthToken,
  deleteExpiredPreauthTokens,
  insertPreauthToken,
  type Account,
  type SignIn,
} from '../credentials/account-queries.js';
import type { AttemptDeps } from '../credentials/password-attempt.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { SecurityEventFields } from '../../../platform/logging/security-log.js';
import type { SystemTx } from '../../../platform/db/scope.js';
import { beginSession, recordLoginNetwork, type Client } from '../../sessions/public.js';

export type CodeAttempt = Client & { preauthToken: string; code: string };

const TOKEN_BYTES = 32;

export const newPreauthToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** Stores the token's hash for five minutes, in the caller's transaction. */
export async function storePreauthToken(
  tx: SystemTx,
  secrets: Secrets,
  userId: string,
  token: string,
): Promise<void> {
  await tx.count(deleteExpiredPreauthTokens(tx, userId));
  await tx.count(insertPreauthToken(tx, userId, secrets.lookupHash(token, 'preauth_token')));
}

/**
 * Verifies the second factor. The token is used up whether or not the code is correct.
 * @throws ApiError code_invalid, account_disabled, too_many_attempts
 */
export async function verifyTwoFactor(
  ctx: SystemContext,
  deps: AttemptDeps,
  attempt: CodeAttempt,
): Promise<SignIn> {
  const { tenantId, requestId: reqId } = ctx;
  const { address } = attempt;
  const facts: SecurityEventFields = { reqId, tenantId, address };
  ctx.noteRateLimit(limitOf('code'));
  await deps.loginLimiter.assertMayTry(ctx, address);
  const outcome = await ctx.write((tx) => verifyAttempt(tx, deps.secrets, attempt, facts));
  if (!(outcome instanceof ApiError)) {
    deps.loginLimiter.noteLogin(tenantId, outcome.account.id, address);
    deps.securityLog('login.succeeded', facts);
    return outcome;
  }
  if (outcome.code === 'code_invalid') await deps.loginLimiter.countFailure(tenantId, address);
  deps.securityLog('code.refused', { ...facts, code: outcome.code });
  throw outcome;
}

// Returns a rejection instead of throwing it: a thrown error would roll back the use of the token.
async function verifyAttempt(
  tx: SystemTx,
  secrets: Secrets,
  attempt: CodeAttempt,
  facts: SecurityEventFields,
): Promise<SignIn | ApiError> {
  const tokenHash = secrets.lookupHash(attempt.preauthToken, 'preauth_token');
  const [token] = await tx.query(consumePreauthToken(tx, tokenHash));
  if (!token) return new ApiError('code_invalid');

  const { userId } = token;
  facts.userId = userId;
  const outcome = await tryCode(tx, userId, async () => {
    const [account] = await tx.query(accountById(tx, userId));
    if (!account) return new ApiError('code_invalid');
    if (!account.isEnabled) return new ApiError('account_disabled');
    const factor = await verifyCode(tx, secrets, { account, code: attempt.code });
    return factor && { account, factor };
  });
  if (outcome === undefined) return new ApiError('code_invalid');
  if (outcome instanceof ApiError) return outcome;
  facts.secondFactor = outcome.factor;
  return recordLogin(tx, attempt, outcome);
}

async function recordLogin(
  tx: SystemTx,
  client: Client,
  verified: { account: Account; factor: Factor },
): Promise<SignIn | ApiError> {
  // Read again and locked, so that no concurrent change revokes the user's tokens before the commit.
  const [, [account]] = await tx.query([
    lockUserForLogin(tx, verified.account.id),
    accountById(tx, verified.account.id),
  ]);
  if (!account?.isEnabled) return new ApiError('account_disabled');
  // A change that revoked the user's tokens after the first step also invalidates this login.
  if (account.tokenVersion !== verified.account.tokenVersion) return new ApiError('code_invalid');
  const by = account.id;
  auditLater(tx, 'user.logged_in', account.id, { by, after: { second_factor: verified.factor } });
  const sessionId = await beginSession(tx, account, 'verify_2fa', client);
  await recordLoginNetwork(tx, account.id, client);
  return { account, sessionId };
}
