import { auditLater } from '../../platform/audit/audit.js';
import { validatePassword, passwordThrottle, resetFailures, resetThrottle } from '../auth/public.js';
import type { SystemContext } from '../../platform/context/request-context.js';
import type { Deps } from '../dependencies.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { queueAccountMail } from '../mail/public.js';
import type { Client } from '../sessions/public.js';
import { consumeToken, findToken, lockToken, setPassword, type TokenRow } from './queries.js';

export type Reset = Client & { token: string; newPassword: string };

type ResetDeps = Pick<Deps, 'loginLimiter' | 'passwords' | 'secrets'>;

/**
 * Replaces the password of the user to whom the token was mailed, and ends its sessions. The second factor is
 * not changed. A rejected password leaves the token usable.
 * @throws ApiError reset_token_invalid, validation_failed, too_many_attempts, overloaded
 */
export async function resetPassword(ctx: SystemContext, deps: ResetDeps, reset: Reset): Promise<void> {
  const { address, newPassword, token } = reset;
  await deps.loginLimiter.assertMayTry(ctx, address);
  const tokenHash = deps.secrets.lookupHash(token, 'password_reset');
  const { username, fullName } = await requireValidToken(ctx, deps, address, tokenHash);
  const problem = await validatePassword(newPassword, [username, fullName]);
  if (problem) throw invalidFieldError('new_password', ...problem);
  const replace = async () => {
    // Checked again inside the limit: of many requests with one token, only the first computes a hash.
    await requireValidToken(ctx, deps, address, tokenHash);
    const hash = await deps.passwords.hash(newPassword);
    if (!(await store(ctx, reset, tokenHash, hash))) throw await countFailedToken(ctx, deps, address);
  };
  await deps.loginLimiter.withLimit(ctx.tenantId, username, replace, address);
}

async function requireValidToken(
  ctx: SystemContext,
  deps: ResetDeps,
  address: string,
  tokenHash: string,
): Promise<TokenRow> {
  const [[found]] = await ctx.read([findToken(ctx, tokenHash)]);
  if (!found) throw await countFailedToken(ctx, deps, address);
  return found;
}

/** A wrong token counts as a failed login of its address. */
async function countFailedToken(
  { tenantId }: SystemContext,
  { loginLimiter }: ResetDeps,
  address: string,
): Promise<ApiError> {
  await loginLimiter.countFailure(tenantId, address);
  return new ApiError('reset_token_invalid');
}

/** Returns false if the token was used or the account changed since it was checked. */
function store(ctx: SystemContext, client: Client, tokenHash: string, hash: string): Promise<boolean> {
  return ctx.write(async (tx) => {
    const [found] = await tx.query(lockToken(ctx, tokenHash));
    if (!found || (await tx.count(consumeToken(ctx, found.resetId))) !== 1) return false;
    const { userId, username } = found;
    await tx.count(setPassword(ctx, userId, hash));
    await tx.models.preauthToken.deleteMany({ where: { userId } });
    // Failed attempts with the old password must not lock out the owner of the new one.
    await tx.count(resetFailures(ctx, passwordThrottle(username)));
    await tx.count(resetFailures(ctx, resetThrottle(username)));
    auditLater(tx, 'user.password_reset', userId, { after: { must_change_password: false, by: 'email' } });
    await queueAccountMail(tx, { userId, kind: 'password_reset', client });
    return true;
  });
}
