import bcrypt from 'bcrypt';

/** About 185 ms of one core a hash. */
export const BCRYPT_COST = 12;

/** bcrypt reads 72 bytes and ignores the rest; a longer password would match its own prefix. */
export const MAX_PASSWORD_BYTES = 72;

export function isHashable(password: string): boolean {
  return Buffer.byteLength(password) <= MAX_PASSWORD_BYTES && !password.includes('\0');
}

// Well-formed, and the hash of no known password: comparing with it takes the time of a real one.
const NOBODYS_HASH = `$2b$${BCRYPT_COST}$${'.'.repeat(53)}`;

/** Whether the password is the one that was hashed, in the time that a hash takes, whatever is compared with what. */
export async function isPassword(password: string, hash: string | undefined): Promise<boolean> {
  const canMatch = hash !== undefined && isHashable(password);
  const isSame = await bcrypt.compare(canMatch ? password : '', canMatch ? hash : NOBODYS_HASH);
  return canMatch && isSame;
}

/** @throws when the password is longer than bcrypt reads, or holds a NUL at which it would stop */
export async function hashPassword(password: string): Promise<string> {
  if (!isHashable(password)) throw new Error('A password has at most 72 bytes and no NUL.');
  return bcrypt.hash(password, BCRYPT_COST);
}
