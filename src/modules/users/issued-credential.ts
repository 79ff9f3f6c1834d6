import { newOneTimePassword, hashPassword } from '../auth/public.js';
import type { Change } from './context.js';

/** A password to be handed over; it is nowhere else to be read. */
export type IssuedCredential = { userId: string; username: string; password: string; expiresAt: Date };

/** In turn with those who log in: a hash takes a whole core for a fifth of a second. */
export async function makePassword({
  loginLimiter,
  caller,
}: Change): Promise<{ password: string; passwordHash: string }> {
  const password = newOneTimePassword();
  const hash = () => hashPassword(password);
  return { password, passwordHash: await loginLimiter.withLimit(caller.tenantId, caller.userId, hash) };
}
