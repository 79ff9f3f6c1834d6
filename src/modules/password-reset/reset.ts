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
 * Replaces the password of the user to whom the token was mailed, and ends its sessions. The second factor is
 * not changed. A rejected password leaves the token usable.
 * @throws ApiError reset_token_invalid, validation_failed, too_many_attempts, overloaded
 */
export async function resetPassword(deps: Deps, reset: Reset): Promise<void> {
  const { tenantId, address, newPassword } = reset;
  await deps.loginLimiter.assertMayTry(tenantId, address);
  const tokenHash = deps.secrets.lookupHash(reset.token, 'password_reset');
  const { username, full_name: fullName } = await requireValidToken(deps, reset, tokenHash);
  const fault = await validatePassword(newPassword, [username, fullName]);
  if (fault) throw invalidFieldError('new_password', ...fault);
  await deps.loginLimiter.withLimit(tenantId, username, async () => {
    // Checked again inside the limit: of many requests with one token, only the first computes a hash.
    await requireValidToken(deps, reset, tokenHash);
    const hash = await hashPassword(newPassword);
    if (!(await store(deps, reset, tokenHash, hash))) throw await countFailedToken(deps, reset);
  });
}

async function requireValidToken(deps: Deps, reset: Reset, tokenHash: string): Promise<TokenRow> {
  const caller = systemOf(reset);
  const [rows] = await snapshot(deps.db, caller, [findToken(deps.db, caller, tokenHash)]);
  // The statement selects exactly these columns.
  const found = rows?.[0] as TokenRow | undefined;
  if (!found) throw await countFailedToken(deps, reset);
  return found;
}

/** A wrong token counts as a failed login of its address. */
async function countFailedToken({ loginLimiter }: Deps, { tenantId, address }: Reset): Promise<ApiError> {
  await loginLimiter.countFailure(tenantId, address);
  return new ApiError('reset_token_invalid');
}

/** Returns false if the token was used or the account changed since it was checked. */
function store({ db }: Deps, reset: Reset, tokenHash: string, hash: string): Promise<boolean> {
  const caller = systemOf(reset);
  return transaction(db, caller, async (tx) => {
    const [found] = await tx.query<TokenRow>(lockToken(db, caller, tokenHash));
    if (!found || (await tx.execute(consumeToken(db, caller, found.reset_id))) !== 1) return false;
    const { user_id: userId, username } = found;
    await tx.execute(setPassword(db, caller, userId, hash));
    await tx.execute(deletePreauthTokens(db, caller, userId));
    // Failed attempts with the old password must not lock out the owner of the new one.
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
