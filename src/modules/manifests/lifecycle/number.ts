import { randomInt } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const SUFFIX_LENGTH = 4;

/**
 * The random end of `MAN-YYYYMMDD-XXXX`. 1.68 million are possible a day, so that even the ten-thousandth of
 * a day meets a taken one in 0.6 % of tries; the caller tries again.
 */
export function newSuffix(): string {
  return Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}
