import { randomInt } from 'node:crypto';

/** Without what looks alike when it is copied by hand: 0 and O, 1, I and L. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const COUNT = 10;

/** Ten different codes of the form XXXX-XXXX, 39 bits each: five guesses, and they are locked. */
export function newBackupCodes(): string[] {
  const codes = new Set<string>();
  while (codes.size < COUNT) codes.add(`${newGroup()}-${newGroup()}`);
  return [...codes];
}

const newGroup = (): string =>
  Array.from({ length: 4 }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
