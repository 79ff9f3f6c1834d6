import { newOneTimePassword } from '../auth/public.js';
import type { Deps } from '../dependencies.js';
import type { UserCaller } from '../../platform/identity/callers.js';

/** A one-time password to be given to its user. It is stored only as a hash. */
export type IssuedCredential = { userId: string; username: string; password: string; expiresAt: Date };

/** The dependencies of issuing a password. */
export type PasswordDeps = Pick<Deps, 'loginLimiter' | 'passwords'>;

/**
 * Returns a new password and its hash. Hashing shares the limit of logins, because a hash takes a fifth of a
 * second of CPU time.
 */
export async function issuePassword(
  { tenantId, userId }: UserCaller,
  { loginLimiter, passwords }: PasswordDeps,
): Promise<{ password: string; passwordHash: string }> {
  const password = newOneTimePassword();
  const hash = () => passwords.hash(password);
  return { password, passwordHash: await loginLimiter.withLimit(tenantId, userId, hash) };
}
