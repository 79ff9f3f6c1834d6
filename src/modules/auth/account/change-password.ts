import { auditLater } from '../../../platform/audit/audit.js';
import { setPassword } from './queries.js';
import { queueOwnerMail, startNewSession } from './own-account.js';
import { assertUpdated, confirmPassword, readOwnAccount } from '../credentials/own-password.js';
import type { AttemptDeps } from '../credentials/password-attempt.js';
import { validatePassword } from '../credentials/password-policy.js';
import type { Account, SignIn } from '../credentials/account-queries.js';
import { resetFailures, passwordThrottle } from '../../../platform/limits/stored/login-throttle.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import { invalidFieldError, type FieldProblem } from '../../../platform/errors/errors.js';
import type { Client } from '../../sessions/public.js';

/**
 * Replaces the caller's password, revokes its tokens and starts a new session.
 * @throws ApiError validation_failed, password_wrong, too_many_attempts, overloaded
 */
export async function changePassword(
  ctx: PersonContext,
  deps: AttemptDeps,
  client: Client,
  { current, wanted }: { current: string; wanted: string },
): Promise<SignIn> {
  const { username, fullName } = await readOwnAccount(ctx);
  const problem =
    (await validatePassword(wanted, [username, fullName])) ?? unchangedPassword(current, wanted);
  if (problem) throw invalidFieldError('new_password', ...problem);
  const own = { field: 'current_password', username, password: current };
  return confirmPassword(ctx, deps, client, own, async (confirmed) => {
    const hash = await deps.passwords.hash(wanted);
    return store(ctx, client, confirmed, hash);
  });
}

/** Returns a problem if the new password equals the current one. The current one is verified later. */
const unchangedPassword = (current: string, wanted: string): FieldProblem | undefined =>
  current === wanted ? ['unchanged'] : undefined;

function store(ctx: PersonContext, client: Client, account: Account, hash: string): Promise<SignIn> {
  const { userId } = ctx.caller;
  return ctx.asTenant().write(async (tx) => {
    assertUpdated(await tx.count(setPassword(ctx, account, hash)));
    await tx.models.preauthToken.deleteMany({ where: { userId } });
    await tx.count(resetFailures(ctx, passwordThrottle(account.username)));
    const before = { must_change_password: account.mustChangePassword };
    auditLater(tx, 'user.password_changed', userId, { before, after: { must_change_password: false } });
    await queueOwnerMail(ctx, tx, client, 'password_changed');
    return startNewSession(ctx, tx, client, 'password_change');
  });
}
