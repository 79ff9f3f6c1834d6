import { auditLater } from '../../../platform/audit/audit.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { beginSession, recordLoginNetwork, type Client } from '../../sessions/public.js';
import { accountById, lockUserForLogin, type SignIn } from '../credentials/account-queries.js';
import type { AttemptDeps } from '../credentials/password-attempt.js';
import { acceptPin, countPinAttempt, MAX_PIN_FAILURES, type PinAttempt, type Place } from './queries.js';

export type Switch = Client & Place & { pin: string };

/**
 * Starts a session of a worker whom the station remembers, by the PIN.
 * @throws ApiError pin_wrong, password_needed, too_many_attempts, overloaded
 */
export async function switchWorker(ctx: SystemContext, deps: AttemptDeps, sent: Switch): Promise<SignIn> {
  const { tenantId, requestId: reqId } = ctx;
  const { userId, address } = sent;
  const facts = { reqId, tenantId, address, userId };
  try {
    await deps.loginLimiter.assertMayTry(ctx, address);
    await deps.loginLimiter.assertSpace(tenantId, userId, address);
    const attempt = () => tryPin(ctx, deps, sent);
    // A PIN is hashed as a password is, so it takes turns with these.
    const signIn = await deps.loginLimiter.withLimit(tenantId, userId, attempt, address);
    deps.loginLimiter.noteLogin(tenantId, userId, address);
    deps.securityLog('login.succeeded', { ...facts, secondFactor: 'pin' });
    return signIn;
  } catch (error) {
    if (error instanceof ApiError) deps.securityLog('pin.refused', { ...facts, code: error.code });
    throw error;
  }
}

async function tryPin(ctx: SystemContext, deps: AttemptDeps, sent: Switch): Promise<SignIn> {
  // Counted as wrong before the PIN is compared, so that simultaneous attempts are no more than five.
  const [[attempt]] = await ctx.write([countPinAttempt(ctx, sent)], { keptIfRefused: true });
  if (attempt && (await deps.passwords.matches(sent.pin, attempt.pinHash))) return start(ctx, sent, attempt);
  // Also an attempt without a station: it took a turn of the logins.
  await deps.loginLimiter.countFailure(ctx.tenantId, sent.address);
  const left = attempt ? MAX_PIN_FAILURES - attempt.failures : 0;
  throw left > 0 ? new ApiError('pin_wrong', { args: { left } }) : new ApiError('password_needed');
}

const start = (ctx: SystemContext, sent: Switch, { pinHash }: PinAttempt): Promise<SignIn> =>
  ctx.write(async (tx) => {
    const { userId } = sent;
    // Locked and read again: the user may have been disabled or have removed the PIN during the hash.
    const [, [account]] = await tx.query([lockUserForLogin(ctx, userId), accountById(ctx, userId)]);
    if (!account?.isEnabled || (await tx.count(acceptPin(ctx, sent, pinHash))) !== 1)
      throw new ApiError('password_needed');
    auditLater(tx, 'user.logged_in', userId, { by: userId, after: { second_factor: 'pin' } });
    const sessionId = await beginSession(tx, account, 'pin', sent);
    await recordLoginNetwork(tx, userId, sent);
    return { account, sessionId };
  });
