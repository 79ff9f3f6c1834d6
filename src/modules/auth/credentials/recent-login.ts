import { TOKEN_LIFETIME_S } from '../../../platform/access/tokens.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/db/scope.js';
import { once, type Sql } from '../../../platform/db/statements.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import type { PersonCaller } from '../../../platform/identity/callers.js';
import { confirmOwnPassword, type Confirmation, type Settle } from './own-password.js';

/** The time after a login in which its session alone gives others access. Source: the contract's `manageUsers`. */
const RECENT_MINUTES = 15;

/** By the database's clock, which dates the token too. A copy of the token, such as the console's cookie, has its end. */
const loggedInRecently = ({ expiresAt }: PersonCaller): Sql<{ isRecent: boolean }> =>
  once`select to_timestamp(${expiresAt - TOKEN_LIFETIME_S}::float8) > now() - make_interval(mins => ${RECENT_MINUTES}::int)
    as "isRecent"`;

/** @throws ApiError validation_failed if the caller has not just logged in */
function assertRecent(login: { isRecent: boolean } | undefined): void {
  if (!login?.isRecent)
    throw invalidFieldError('current_password', 'required_for_old_login', { minutes: RECENT_MINUTES });
}

/**
 * Runs `work` if the caller has just logged in or sends its own password in the field current_password. For work that gives somebody
 * lasting access: a stolen session alone must not outlive itself (decision 0135).
 *
 * @param work must pass its transaction to `settle`
 * @throws ApiError validation_failed without a password that is needed, password_wrong, too_many_attempts, overloaded
 */
export async function confirmAccess<Result>(
  ctx: PersonContext,
  { password, ...confirmation }: Confirmation,
  work: (settle?: Settle) => Promise<Result>,
): Promise<Result> {
  if (password !== undefined) return confirmOwnPassword(ctx, { ...confirmation, password }, work);
  const [[login]] = await ctx.read([loggedInRecently(ctx.caller)]);
  assertRecent(login);
  return work();
}

/**
 * Runs `work`, whose transaction shows whether it gives anybody access. If it does and the request has no password, it calls
 * `assertRecentLogin`. A password that is sent is checked first.
 *
 * @param work must pass its transaction to `settle`
 * @throws ApiError password_wrong, too_many_attempts, overloaded
 */
export const confirmIfSent = <Result>(
  ctx: PersonContext,
  { password, ...confirmation }: Confirmation,
  work: (settle?: Settle) => Promise<Result>,
): Promise<Result> =>
  password === undefined ? work() : confirmOwnPassword(ctx, { ...confirmation, password }, work);

/** @throws ApiError validation_failed if the caller has not just logged in */
export async function assertRecentLogin(tx: Tx, caller: PersonCaller): Promise<void> {
  const [login] = await tx.query(loggedInRecently(caller));
  assertRecent(login);
}
