import { randomBytes } from 'node:crypto';
import { verifyCode, tryCode } from '../credentials/code-attempt.js';
import {
  accountById,
  lockAccountForLogin,
  consumePreauthToken,
  deleteExpiredPreauthTokens,
  insertPreauthToken,
  type Account,
} from '../credentials/account-queries.js';
import type { SignIn } from '../sign-in.js';
import { auditStatement } from '../../../platform/audit/audit.js';
import { transaction, type Tx } from '../../../platform/db/transaction.js';
import type { Deps } from '../../dependencies.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { SecurityEventFields } from '../../../platform/logging/security-log.js';
import { beginSession, noteLoginNetwork } from '../../sessions/public.js';

export type CodeAttempt = {
  tenantId: string;
  preauthToken: string;
  code: string;
  address: string;
  userAgent: string | undefined;
  requestId: string;
};

const TOKEN_BYTES = 32;

export const newPreauthToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** Stores the token's hash for five minutes, in the caller's transaction. */
export async function storePreauthToken(deps: Deps, tx: Tx, userId: string, token: string): Promise<void> {
  await tx.execute(deleteExpiredPreauthTokens(deps.db, tx.caller, userId));
  await tx.execute(insertPreauthToken(tx.caller, userId, deps.secrets.lookupHash(token, 'preauth_token')));
}

/**
 * Verifies the second factor. The token is used up whether or not the code is correct.
 * @throws ApiError code_invalid, account_disabled, too_many_attempts
 */
export async function verifyTwoFactor(deps: Deps, attempt: CodeAttempt): Promise<SignIn> {
  const { tenantId, address, requestId: reqId } = attempt;
  const facts: SecurityEventFields = { reqId, tenantId, address };
  await deps.loginLimiter.assertMayTry(tenantId, address);
  const outcome = await transaction(deps.db, { kind: 'system', tenantId }, (tx) =>
    verifyAttempt(deps, tx, attempt, facts),
  );
  if (!(outcome instanceof ApiError)) {
    deps.securityLog('login.succeeded', facts);
    return outcome;
  }
  if (outcome.code === 'code_invalid') await deps.loginLimiter.countFailure(tenantId, address);
  deps.securityLog('code.refused', { ...facts, code: outcome.code });
  throw outcome;
}

// Returns a rejection instead of throwing it: a thrown error would roll back the use of the token.
async function verifyAttempt(
  deps: Deps,
  tx: Tx,
  attempt: CodeAttempt,
  facts: SecurityEventFields,
): Promise<SignIn | ApiError> {
  const { db, secrets } = deps;
  const tokenHash = secrets.lookupHash(attempt.preauthToken, 'preauth_token');
  const [token] = await tx.query<{ userId: string }>(consumePreauthToken(db, tx.caller, tokenHash));
  if (!token) return new ApiError('code_invalid');

  const { userId } = token;
  facts.userId = userId;
  const outcome = await tryCode(db, tx, { userId, requestId: attempt.requestId }, async () => {
    const [account] = await tx.query<Account>(accountById(db, tx.caller, userId));
    if (!account) return new ApiError('code_invalid');
    if (!account.isEnabled) return new ApiError('account_disabled');
    const factor = await verifyCode(deps, tx, account, attempt.code);
    return factor && { account, factor };
  });
  if (outcome === undefined) return new ApiError('code_invalid');
  if (outcome instanceof ApiError) return outcome;
  const { factor } = outcome;
  facts.secondFactor = factor;
  // Read again and locked, so that no concurrent change revokes the user's tokens before the commit.
  const [account] = await tx.query<Account>(lockAccountForLogin(db, tx.caller, userId));
  if (!account?.isEnabled) return new ApiError('account_disabled');
  // A change that revoked the user's tokens after the first step also invalidates this login.
  if (account.tokenVersion !== outcome.account.tokenVersion) return new ApiError('code_invalid');
  await tx.execute(
    auditStatement(tx.caller, attempt.requestId, [
      { action: 'user.logged_in', entity: 'user', entityId: account.id, after: { second_factor: factor } },
    ]),
  );
  const sessionId = await beginSession(tx, account, 'verify_2fa', attempt);
  await noteLoginNetwork(db, tx, account.id, attempt);
  return { account, sessionId };
}
