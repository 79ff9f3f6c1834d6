import { auditLater } from '../../../platform/audit/audit.js';
import { disableSecret, lockUnchangedUser } from './queries.js';
import { replaceBackupCodes, runCodeAttempt } from './own-code-attempt.js';
import { queueOwnerMail, startNewSession, readFactor } from './own-account.js';
import { assertUpdated, confirmPassword, readOwnAccount } from '../credentials/own-password.js';
import { verifyCode, verifyTotpCode, tryCode } from '../credentials/code-attempt.js';
import type { Account, SignIn } from '../credentials/account-queries.js';
import type { AttemptDeps } from '../credentials/password-attempt.js';
import { resetFailures, passwordThrottle } from '../../../platform/limits/stored/login-throttle.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { Tx } from '../../../platform/db/scope.js';
import type { Client } from '../../sessions/public.js';

/** The proof of identity that a change of the second factor requires. */
export type PasswordAndCode = { password: string; code: string };

/**
 * Disables the second factor. Accepts an authenticator code or a backup code.
 * @throws ApiError two_factor_required, two_factor_disabled, password_wrong, code_wrong, 429
 */
export async function disableFactor(
  ctx: PersonContext,
  deps: AttemptDeps,
  client: Client,
  sent: PasswordAndCode,
): Promise<SignIn> {
  const { userId } = ctx.caller;
  const { isRequired } = await readFactor(ctx);
  if (isRequired) throw new ApiError('two_factor_required', { variant: 'stays_on' });
  const attempt = { ...sent, verify: verifyCode };
  return withPasswordAndCode(ctx, deps, client, attempt, async (tx, account) => {
    assertUpdated(await tx.count(disableSecret(ctx, account)));
    await tx.models.backupCode.deleteMany({ where: { userId } });
    await tx.models.preauthToken.deleteMany({ where: { userId } });
    const before = { two_factor_enabled: true };
    auditLater(tx, 'user.two_factor_disabled', userId, { before, after: { two_factor_enabled: false } });
    await queueOwnerMail(ctx, tx, client, 'two_factor_disabled');
    return startNewSession(ctx, tx, client, 'two_factor_change');
  });
}

/**
 * Replaces the backup codes. Accepts only an authenticator code.
 * @throws ApiError two_factor_disabled, password_wrong, code_wrong, 429
 */
export async function regenerateBackupCodes(
  ctx: PersonContext,
  deps: AttemptDeps,
  client: Client,
  sent: PasswordAndCode,
): Promise<string[]> {
  const attempt = { ...sent, verify: verifyTotpCode };
  return withPasswordAndCode(ctx, deps, client, attempt, async (tx, account) => {
    assertUpdated((await tx.query(lockUnchangedUser(ctx, account))).length);
    const backupCodes = await replaceBackupCodes(ctx, tx, deps.secrets);
    auditLater(tx, 'user.backup_codes_regenerated', ctx.caller.userId);
    await queueOwnerMail(ctx, tx, client, 'backup_codes_regenerated');
    return backupCodes;
  });
}

type Verify = typeof verifyCode | typeof verifyTotpCode;

/** Runs `work` if password and code are correct. The code is used up. */
async function withPasswordAndCode<Result>(
  ctx: PersonContext,
  deps: AttemptDeps,
  client: Client,
  { password, code, verify }: PasswordAndCode & { verify: Verify },
  work: (tx: Tx, account: Account) => Promise<Result>,
): Promise<Result> {
  const { twoFactorEnabled, username } = await readOwnAccount(ctx);
  if (!twoFactorEnabled) throw new ApiError('two_factor_disabled');
  return confirmPassword(ctx, deps, client, { field: 'password', username, password }, (account) =>
    runCodeAttempt(ctx, deps, client, async (tx) => {
      const accepted = await tryCode(
        tx,
        ctx.caller.userId,
        async () => (await verify(tx, deps.secrets, { account, code })) || undefined,
      );
      const isAccepted = accepted !== undefined && !(accepted instanceof ApiError);
      const outcome = isAccepted ? await work(tx, account) : accepted;
      // Last, because every transaction locks the user before the throttle. The password was correct even if
      // the code was not.
      await tx.count(resetFailures(ctx, passwordThrottle(username)));
      return outcome;
    }),
  );
}
