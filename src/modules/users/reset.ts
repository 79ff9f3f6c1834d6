import { auditLater } from '../../platform/audit/audit.js';
import {
  ONE_TIME_PASSWORD_DAYS,
  codeThrottle,
  passwordThrottle,
  resetFailures,
  type Settle,
} from '../auth/public.js';
import type { PersonContext } from '../../platform/context/request-context.js';
import type { PersonTx, Tx } from '../../platform/db/scope.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { PersonCaller } from '../../platform/identity/callers.js';
import { changeUser, countOpenTokens, deletePreauthTokens, REVOKE_TOKENS, type Changed } from './change.js';
import { queueMailsOf } from './notify.js';
import { issuePassword, type IssuedCredential, type PasswordDeps } from './user.js';
import { userExists, type LockedUser, type UserRow } from './queries.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Sets a new one-time password.
 * @throws ApiError own_account, user_not_found, overloaded, quota_exceeded
 */
export async function resetPassword(
  ctx: PersonContext,
  deps: PasswordDeps,
  userId: string,
  settle?: Settle,
): Promise<IssuedCredential & { openTokens: number }> {
  assertAnother(ctx, userId);
  await assertUserExists(ctx, userId);
  const { password, passwordHash } = await issuePassword(ctx.caller, deps, settle);
  let openTokens = 0;
  const reset = async (tx: PersonTx, stored: LockedUser) => {
    openTokens = await writePassword(tx, stored, passwordHash, ctx.caller);
    return true;
  };
  const { user } = await changeUser(ctx, userId, reset, settle);
  return { ...credentialOf(user, password), openTokens };
}

/**
 * Gives a locked user a one-time password, for `caller`. Returns how many service tokens of the user still work.
 *
 * @throws ApiError quota_exceeded
 */
export async function writePassword(
  tx: Tx,
  { id: userId, username, now }: LockedUser,
  passwordHash: string,
  caller: PersonCaller,
): Promise<number> {
  const passwordExpiresAt = new Date(now.getTime() + ONE_TIME_PASSWORD_DAYS * DAY_MS);
  const data = { passwordHash, mustChangePassword: true, passwordExpiresAt, ...REVOKE_TOKENS };
  await tx.models.user.updateMany({ where: { id: userId }, data: { ...data, updatedAt: now } });
  await deletePreauthTokens(tx, userId);
  // Failed attempts with the old password must not lock out the user with the new one.
  await tx.count(resetFailures(tx, passwordThrottle(username)));
  auditLater(tx, 'user.password_reset', userId, { after: { must_change_password: true } });
  const openTokens = await countOpenTokens(tx, userId);
  await queueMailsOf(tx, caller, [{ userId, kind: 'password_reset_by_admin' }]);
  return openTokens;
}

/** The credential of a user who has just got a one-time password. */
export function credentialOf(
  { id: userId, username, passwordExpiresAt: expiresAt }: UserRow,
  password: string,
): IssuedCredential {
  if (!expiresAt) throw new Error('The one-time password does not expire.');
  return { userId, username, password, expiresAt };
}

const NO_SECOND_FACTOR = {
  twoFactorEnabled: false,
  totpSecret: null,
  totpLastStep: null,
  totpPendingSecret: null,
  totpPendingExpiresAt: null,
};

/**
 * Turns off a user's second factor.
 * @throws ApiError own_account, user_not_found, quota_exceeded
 */
export function resetTwoFactor(ctx: PersonContext, userId: string, settle?: Settle): Promise<Changed> {
  assertAnother(ctx, userId);
  return changeUser(
    ctx,
    userId,
    async (tx, stored) => {
      const wasEnabled = stored.twoFactorEnabled;
      if (!wasEnabled && !stored.isSettingUpFactor) return false;
      const data = { ...NO_SECOND_FACTOR, ...REVOKE_TOKENS, updatedAt: stored.now };
      await tx.models.user.updateMany({ where: { id: userId }, data });
      await tx.models.backupCode.deleteMany({ where: { userId } });
      await deletePreauthTokens(tx, userId);
      const before = { two_factor_enabled: wasEnabled };
      auditLater(tx, 'user.two_factor_disabled', userId, { before, after: { two_factor_enabled: false } });
      if (wasEnabled) await queueMailsOf(tx, ctx.caller, [{ userId, kind: 'two_factor_reset_by_admin' }]);
      return true;
    },
    // Earlier wrong codes must not lock a new factor. Done first, in the lock order of verify_2fa.
    async (tx) => {
      await settle?.(tx);
      await tx.count(resetFailures(ctx, codeThrottle(userId)));
    },
  );
}

/**
 * Users must change their own account with their password. This operation does not require it, so a stolen
 * token could misuse it.
 */
export function assertAnother({ caller }: PersonContext, userId: string): void {
  if (caller.userId === userId) throw new ApiError('own_account');
}

/** Checked before the expensive hash. */
async function assertUserExists(ctx: PersonContext, userId: string): Promise<void> {
  const [found] = await ctx.read([userExists(ctx, userId)]);
  if (found.length === 0) throw new ApiError('user_not_found');
}
