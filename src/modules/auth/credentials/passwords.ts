import bcrypt from 'bcrypt';

/** A hash takes about 185 ms of CPU time. */
export const BCRYPT_COST = 12;

/** bcrypt reads 72 bytes and ignores the rest, so a longer password would match its own prefix. */
export const MAX_PASSWORD_BYTES = 72;

export function isHashable(password: string): boolean {
  return Buffer.byteLength(password) <= MAX_PASSWORD_BYTES && !password.includes('\0');
}

// A well-formed hash of no known password. Comparing with it takes as long as with a real one.
const DUMMY_HASH = `$2b$${BCRYPT_COST}$${'.'.repeat(53)}`;

/**
 * Returns whether the password matches the hash. Takes the time of one hash in every case, to prevent timing
 * attacks.
 */
export async function passwordMatches(password: string, hash: string | undefined): Promise<boolean> {
  const canMatch = hash !== undefined && isHashable(password);
  const isSame = await bcrypt.compare(canMatch ? password : '', canMatch ? hash : DUMMY_HASH);
  return canMatch && isSame;
}

/**
 * Returns the bcrypt hash.
 * @throws Error if the password has more than 72 bytes, or a NUL, which bcrypt reads as the end
 */
export async function hashPassword(password: string): Promise<string> {
  if (!isHashable(password)) throw new Error('A password has at most 72 bytes and no NUL.');
  return bcrypt.hash(password, BCRYPT_COST);
}
