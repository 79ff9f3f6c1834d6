import { accountById, lockOwnUser, type Account } from './account-queries.js';
import { withPassword, type AttemptDeps } from './password-attempt.js';
import { passwordThrottle, resetFailures } from '../../../platform/limits/stored/login-throttle.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import type { Tx } from '../../../platform/db/scope.js';
import type { Client } from '../../sessions/public.js';

/**
 * Returns the caller's own account.
 * @throws ApiError token_invalid if the account may no longer log in
 */
export async function readOwnAccount(ctx: PersonContext): Promise<Account> {
  const [[account]] = await ctx.read([accountById(ctx, ctx.caller.userId)]);
  if (!account) throw new ApiError('token_invalid');
  return account;
}

/** Throws if a compare-and-set changed no row: the account has changed and the token has been revoked. */
export function assertUpdated(rows: number): void {
  if (rows !== 1) throw new ApiError('token_invalid');
}

/** `field` is the name of the password in the request's body. */
export type OwnPassword = { field: string; username: string; password: string };

/** Where the request came from. Wrong passwords count for the address too. */
type Sender = { address: string };

/**
 * Runs `work` if the password is the caller's own.
 * @throws ApiError password_wrong with the given field in `errors`, too_many_attempts, overloaded
 */
export function confirmPassword<Result>(
  ctx: PersonContext,
  deps: AttemptDeps,
  { address }: Sender,
  { field, username, password }: OwnPassword,
  work: (account: Account) => Promise<Result>,
): Promise<Result> {
  const refuse = () => new ApiError('password_wrong', { errors: [fieldError(field, 'wrong')] });
  return withPassword(ctx, deps, { username, password, address }, refuse, work);
}

/** Who sends a change that the own password confirms. The password is undefined if the request has none. */
export type Confirmation = { deps: AttemptDeps; client: Client; password: string | undefined };

/** Makes sure, in the transaction of the work, that the password is still the one that was confirmed. */
export type Settle = (tx: Tx) => Promise<void>;

/**
 * Runs `work` if the password in the field current_password is the caller's own. For work of other modules.
 *
 * @param work must pass its transaction to `settle`
 */
export async function confirmOwnPassword<Result>(
  ctx: PersonContext,
  { deps, client, password }: Confirmation & { password: string },
  work: (settle: Settle) => Promise<Result>,
): Promise<Result> {
  const { username } = await readOwnAccount(ctx);
  const own = { field: 'current_password', username, password };
  return confirmPassword(ctx, deps, client, own, async (account) => {
    const assertSame = async (tx: Tx) => assertUpdated((await tx.query(lockOwnUser(ctx, account))).length);
    // In a transaction of its own: couriers have no access to throttles, and a right password ends the count although the work may
    // be refused for another reason.
    await ctx.asTenant().write(
      async (tx) => {
        await assertSame(tx);
        await tx.count(resetFailures(ctx, passwordThrottle(username)));
      },
      { keptIfRefused: true },
    );
    return work(assertSame);
  });
}
