import { randomInt } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const SUFFIX_LENGTH = 4;

/**
 * Returns the random suffix of `MAN-YYYYMMDD-XXXX`. 1.68 million are possible per day: even the
 * ten-thousandth manifest of a day collides in only 0.6 % of tries, and the caller retries.
 */
export function newSuffix(): string {
  return Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}
