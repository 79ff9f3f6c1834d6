import { randomInt } from 'node:crypto';

/** Without characters that look alike in handwriting: 0 and O, 1, I and L. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const COUNT = 10;

/**
 * Returns ten different codes of the form XXXX-XXXX with 39 bits each. Five wrong attempts lock the user's
 * codes.
 */
export function newBackupCodes(): string[] {
  const codes = new Set<string>();
  while (codes.size < COUNT) codes.add(`${newGroup()}-${newGroup()}`);
  return [...codes];
}

const newGroup = (): string =>
  Array.from({ length: 4 }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
