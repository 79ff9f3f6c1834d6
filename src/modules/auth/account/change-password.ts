import { deletePreauthTokens, setPassword } from './queries.js';
import {
  assertUpdated,
  ownAccount,
  record,
  systemOf,
  queueOwnerMail,
  type OwnAccountContext,
} from './account-context.js';
import { withPassword } from '../credentials/password-attempt.js';
import { validatePassword } from '../credentials/password-policy.js';
import { hashPassword } from '../credentials/passwords.js';
import { accountById, type Account } from '../credentials/account-queries.js';
import type { SignIn } from '../sign-in.js';
import { resetFailures, passwordThrottle } from '../credentials/throttle.js';
import { transaction } from '../../../platform/db/transaction.js';
import {
  ApiError,
  fieldError,
  invalidFieldError,
  type FieldProblem,
} from '../../../platform/errors/errors.js';
import { beginSession } from '../../sessions/public.js';

/**
 * Replaces the caller's password, revokes its tokens and starts a new session.
 * @throws ApiError validation_failed, password_wrong, too_many_attempts, overloaded
 */
export async function changePassword(
  context: OwnAccountContext,
  current: string,
  wanted: string,
): Promise<SignIn> {
  const account = await ownAccount(context);
  const fault =
    (await validatePassword(wanted, [account.username, account.fullName])) ??
    unchangedPassword(current, wanted);
  if (fault) throw invalidFieldError('new_password', ...fault);
  return confirmPassword(context, account, 'current_password', current, async (confirmed) => {
    const hash = await hashPassword(wanted);
    return store(context, confirmed, hash);
  });
}

/** Returns a problem if the new password equals the current one. The current one is verified later. */
const unchangedPassword = (current: string, wanted: string): FieldProblem | undefined =>
  current === wanted ? ['unchanged'] : undefined;

/**
 * Runs `work` if the password is the caller's own.
 * @throws ApiError password_wrong with the given field in `errors`
 */
export function confirmPassword<Result>(
  { deps, caller, address, requestId }: OwnAccountContext,
  { username }: Account,
  field: string,
  password: string,
  work: (account: Account) => Promise<Result>,
): Promise<Result> {
  const attempt = { tenantId: caller.tenantId, username, password, address, requestId };
  const refuse = () => new ApiError('password_wrong', { errors: [fieldError(field, 'wrong')] });
  return withPassword(deps, attempt, refuse, work);
}

async function store(context: OwnAccountContext, account: Account, hash: string): Promise<SignIn> {
  const { deps, caller } = context;
  return transaction(deps.db, systemOf(caller), async (tx) => {
    assertUpdated(await tx.execute(setPassword(deps.db, caller, account, hash)));
    await tx.execute(deletePreauthTokens(deps.db, caller, caller.userId));
    await tx.execute(resetFailures(deps.db, caller, passwordThrottle(account.username)));
    await record(context, tx, {
      action: 'user.password_changed',
      before: { must_change_password: account.mustChangePassword },
      after: { must_change_password: false },
    });
    await queueOwnerMail(context, tx, 'password_changed');
    const [changed] = await tx.query<Account>(accountById(deps.db, caller, caller.userId));
    if (!changed) throw new Error('The user was not found in the transaction that wrote it.');
    return { account: changed, sessionId: await beginSession(tx, changed, 'password_change', context) };
  });
}
