import { lockOwnUser } from './queries.js';
import { assertUpdated, confirmPassword, readOwnAccount } from './own-account.js';
import type { AttemptDeps } from '../credentials/password-attempt.js';
import { passwordThrottle, resetFailures } from '../credentials/throttle.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { PlainTx } from '../../../platform/db/statements.js';
import type { Client } from '../../sessions/public.js';

/**
 * Runs a change of the caller's own account if the password is the caller's own.
 *
 * @param work must pass its transaction to `settle`, which makes sure that the password is still the same
 * @throws ApiError password_wrong with the field current_password, too_many_attempts, overloaded
 */
export async function confirmOwnPassword<Result>(
  ctx: UserContext,
  deps: AttemptDeps,
  client: Client,
  password: string,
  work: (settle: (tx: PlainTx) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const { username } = await readOwnAccount(ctx);
  const own = { field: 'current_password', username, password };
  return confirmPassword(ctx, deps, client, own, (account) =>
    work(async (tx) => {
      assertUpdated((await tx.query(lockOwnUser(ctx, account))).length);
      await tx.execute(resetFailures(ctx, passwordThrottle(username)));
    }),
  );
}
