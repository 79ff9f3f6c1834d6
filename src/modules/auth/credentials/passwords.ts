import bcrypt from 'bcrypt';

/** bcrypt reads 72 bytes and ignores the rest, so a longer password would match its own prefix. */
export const MAX_PASSWORD_BYTES = 72;

function isHashable(password: string): boolean {
  return Buffer.byteLength(password) <= MAX_PASSWORD_BYTES && !password.includes('\0');
}

export type Passwords = {
  /**
   * Returns the bcrypt hash.
   * @throws Error if the password has more than 72 bytes, or a NUL, which bcrypt reads as the end
   */
  hash(password: string): Promise<string>;
  /**
   * Returns whether the password matches the hash. Takes the time of one hash in every case, to prevent timing
   * attacks.
   *
   * @param usualCost the cost for a name without a hash: that of most stored hashes, so that its time does not tell that there is none
   */
  matches(password: string, hash: string | undefined, usualCost?: number): Promise<boolean>;
  /** Returns whether the hash has another cost than the configured one. */
  isOutdated(hash: string): boolean;
};

/** A well-formed hash of no known password. Comparing with it takes as long as with a real one. */
const dummyHash = (cost: number) => `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;

/**
 * Hashes and compares passwords.
 * @param cost the binary logarithm of bcrypt's rounds. A hash of cost 12 takes about 185 ms of CPU time
 * @param refused passwords that match no hash, because everybody can read them
 */
export function openPasswords(cost: number, refused: readonly string[] = []): Passwords {
  return {
    async hash(password) {
      if (!isHashable(password)) throw new Error('A password has at most 72 bytes and no NUL.');
      return bcrypt.hash(password, cost);
    },
    async matches(password, hash, usualCost = cost) {
      const canMatch = hash !== undefined && isHashable(password);
      // The user's own hash also for a password that cannot match: its cost takes the time of the user's other failures.
      const isSame = await bcrypt.compare(canMatch ? password : '', hash ?? dummyHash(usualCost));
      return canMatch && isSame && !refused.includes(password);
    },
    isOutdated: (hash) => bcrypt.getRounds(hash) !== cost,
  };
}
