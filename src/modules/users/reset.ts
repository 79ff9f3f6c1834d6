import { ONE_TIME_PASSWORD_DAYS, codeThrottle, forgetFailures, passwordThrottle } from '../auth/public.js';
import { snapshot } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';
import { queueAccountMail } from '../mail/public.js';
import { changeUser, type Changed } from './change.js';
import { record, type Change, type Ctx } from './context.js';
import { issuePassword, type IssuedCredential } from './issued-credential.js';
import {
  clearSecondFactor,
  deleteBackupCodes,
  deletePreauthTokens,
  setOneTimePassword,
  userExists,
} from './queries.js';

/**
 * Sets a new one-time password.
 * @throws ApiError own_account, user_not_found, overloaded
 */
export async function resetPassword(change: Change, userId: string): Promise<IssuedCredential> {
  assertAnother(change, userId);
  await assertUserExists(change, userId);
  const { password, passwordHash } = await issuePassword(change);
  const { user } = await changeUser(change, userId, async (ctx, { username }) => {
    await setOneTimePassword(ctx, userId, passwordHash, ONE_TIME_PASSWORD_DAYS);
    await deletePreauthTokens(ctx, userId);
    // Failed attempts with the old password must not lock out the user with the new one.
    await ctx.tx.execute(forgetFailures(ctx.db, ctx.caller, passwordThrottle(username)));
    await record(ctx, userId, { action: 'user.password_reset', after: { must_change_password: true } });
    await queueAccountMail(ctx.db, ctx.tx, { userId, kind: 'password_reset_by_admin' });
    return true;
  });
  const { username, password_expires_at: expiresAt } = user;
  if (!expiresAt) throw new Error('The one-time password does not expire.');
  return { userId, username, password, expiresAt };
}

/**
 * Turns off a user's second factor.
 * @throws ApiError own_account, user_not_found
 */
export function resetTwoFactor(change: Change, userId: string): Promise<Changed> {
  assertAnother(change, userId);
  // Earlier wrong codes must not lock a new factor. Done first, in the lock order of verify_2fa.
  const forgetCodes = ({ tx, db, caller }: Ctx) =>
    tx.execute(forgetFailures(db, caller, codeThrottle(userId)));
  return changeUser(
    change,
    userId,
    async (ctx, before) => {
      if (!before.two_factor_enabled && !before.is_setting_up) return false;
      await clearSecondFactor(ctx, userId);
      await deleteBackupCodes(ctx, userId);
      await deletePreauthTokens(ctx, userId);
      await record(ctx, userId, {
        action: 'user.two_factor_disabled',
        before: { two_factor_enabled: before.two_factor_enabled },
        after: { two_factor_enabled: false },
      });
      if (before.two_factor_enabled)
        await queueAccountMail(ctx.db, ctx.tx, { userId, kind: 'two_factor_reset_by_admin' });
      return true;
    },
    forgetCodes,
  );
}

/**
 * Users must change their own account with their password. This operation does not ask for it, so a stolen
 * token could misuse it.
 */
function assertAnother({ caller }: Change, userId: string): void {
  if (caller.userId === userId) throw new ApiError('own_account');
}

/** Checked before the expensive hash. */
async function assertUserExists({ db, caller }: Change, userId: string): Promise<void> {
  const [found] = await snapshot(db, caller, [userExists(db, caller, userId)]);
  if (found?.length === 0) throw new ApiError('user_not_found');
}
