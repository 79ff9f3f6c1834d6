import { accountById, type Account } from '../credentials/account-queries.js';
import { withPassword, type AttemptDeps } from '../credentials/password-attempt.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { PlainTx } from '../../../platform/db/statements.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import { queueAccountMail, type AccountMailKind } from '../../mail/public.js';
import { beginSession, type Client, type StartedBy } from '../../sessions/public.js';
import type { SignIn } from '../sign-in.js';

// Changes of a user's own account run in the system's scope (ctx.asSystem), because couriers have no access to throttles
// and codes. The caller has been admitted before, and each statement is limited to the caller's user id.

/**
 * Returns the caller's own account.
 * @throws ApiError token_invalid if the account may no longer log in
 */
export async function readOwnAccount(ctx: UserContext): Promise<Account> {
  const [[account]] = await ctx.preparedRead([accountById(ctx, ctx.caller.userId)]);
  if (!account) throw new ApiError('token_invalid');
  return account;
}

/** `field` is the name of the password in the request's body. */
export type OwnPassword = { field: string; username: string; password: string };

/**
 * Runs `work` if the password is the caller's own.
 * @throws ApiError password_wrong with the given field in `errors`, too_many_attempts, overloaded
 */
export function confirmPassword<Result>(
  ctx: UserContext,
  deps: AttemptDeps,
  { address }: Client,
  { field, username, password }: OwnPassword,
  work: (account: Account) => Promise<Result>,
): Promise<Result> {
  const refuse = () => new ApiError('password_wrong', { errors: [fieldError(field, 'wrong')] });
  return withPassword(ctx, deps, { username, password, address }, refuse, work);
}

/** Queues a mail to the user about the change, in case somebody else has the user's token. */
export const queueOwnerMail = (
  ctx: UserContext,
  tx: PlainTx,
  client: Client,
  kind: AccountMailKind,
): Promise<void> => queueAccountMail(ctx, tx, { userId: ctx.caller.userId, kind, client });

/** Throws if a compare-and-set changed no row: the account has changed and the token has been revoked. */
export function assertUpdated(rows: number): void {
  if (rows !== 1) throw new ApiError('token_invalid');
}

/** Returns the account as the transaction has changed it, and starts the session of its new token. */
export async function startNewSession(
  ctx: UserContext,
  tx: PlainTx,
  client: Client,
  startedBy: StartedBy,
): Promise<SignIn> {
  const [account] = await tx.query(accountById(ctx, ctx.caller.userId));
  if (!account) throw new Error('The user was not found in the transaction that wrote it.');
  return { account, sessionId: await beginSession(ctx, tx, account, startedBy, client) };
}
