import type { SystemCaller } from '../../platform/identity/callers.js';
import {
  validatePassword,
  hashPassword,
  forgetFailures,
  passwordThrottle,
  resetThrottle,
} from '../auth/public.js';
import { auditStatement } from '../../platform/audit/audit.js';
import { transaction, snapshot } from '../../platform/db/transaction.js';
import type { Deps } from '../dependencies.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { queueAccountMail } from '../mail/public.js';
import {
  consumeToken,
  deletePreauthTokens,
  findToken,
  lockToken,
  setPassword,
  type TokenRow,
} from './queries.js';

export type Reset = {
  tenantId: string;
  token: string;
  newPassword: string;
  address: string;
  userAgent: string | undefined;
  requestId: string;
};

/**
 * Replaces the password of the user whom the token was mailed to, and ends its sessions. The second factor stays. A
 * password that is refused leaves the token usable.
 *
 * @throws ApiError reset_token_invalid, validation_failed, too_many_attempts, overloaded
 */
export async function resetPassword(deps: Deps, reset: Reset): Promise<void> {
  const { tenantId, address, newPassword } = reset;
  await deps.loginLimiter.assertMayTry(tenantId, address);
  const tokenHash = deps.secrets.lookupHash(reset.token, 'password_reset');
  const { username, full_name: fullName } = await assertOpen(deps, reset, tokenHash);
  const fault = await validatePassword(newPassword, [username, fullName]);
  if (fault) throw invalidFieldError('new_password', fault.message, fault.code);
  await deps.loginLimiter.withLimit(tenantId, username, async () => {
    // again, so that of many with one token only the first hashes
    await assertOpen(deps, reset, tokenHash);
    const hash = await hashPassword(newPassword);
    if (!(await store(deps, reset, tokenHash, hash))) throw await refuse(deps, reset);
  });
}

async function assertOpen(deps: Deps, reset: Reset, tokenHash: string): Promise<TokenRow> {
  const caller = systemOf(reset);
  const [rows] = await snapshot(deps.db, caller, [findToken(deps.db, caller, tokenHash)]);
  // The columns that the statement selects.
  const found = rows?.[0] as TokenRow | undefined;
  if (!found) throw await refuse(deps, reset);
  return found;
}

/** A wrong token counts with the wrong passwords of its address. */
async function refuse({ loginLimiter }: Deps, { tenantId, address }: Reset): Promise<ApiError> {
  await loginLimiter.countFailure(tenantId, address);
  return new ApiError('reset_token_invalid');
}

/** Returns false when the token was used, or the account changed, since it was looked at. */
function store({ db }: Deps, reset: Reset, tokenHash: string, hash: string): Promise<boolean> {
  const caller = systemOf(reset);
  return transaction(db, caller, async (tx) => {
    const [found] = await tx.query<TokenRow>(lockToken(db, caller, tokenHash));
    if (!found || (await tx.execute(consumeToken(db, caller, found.reset_id))) !== 1) return false;
    const { user_id: userId, username } = found;
    await tx.execute(setPassword(db, caller, userId, hash));
    await tx.execute(deletePreauthTokens(db, caller, userId));
    // whoever guessed at the old password must not lock out who has chosen a new one
    await tx.execute(forgetFailures(db, caller, passwordThrottle(username)));
    await tx.execute(forgetFailures(db, caller, resetThrottle(username)));
    const fact = { action: 'user.password_reset', entity: 'user' as const, entityId: userId };
    const after = { must_change_password: false, by: 'email' };
    await tx.execute(auditStatement(caller, reset.requestId, [{ ...fact, after }]));
    await queueAccountMail(db, tx, { userId, kind: 'password_reset', client: reset });
    return true;
  });
}

const systemOf = ({ tenantId }: Reset): SystemCaller => ({ kind: 'system', tenantId });
