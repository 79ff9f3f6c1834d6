import { randomInt } from 'node:crypto';

/** Without characters that look alike when copied by hand: 0 and O, 1, l and I. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** The lifetime of a one-time password, in days. */
export const ONE_TIME_PASSWORD_DAYS = 7;

/** Returns four groups of four characters, 93 bits. The user must change it at the first login. */
export function newOneTimePassword(): string {
  return Array.from({ length: GROUPS }, newGroup).join('-');
}

const newGroup = (): string => Array.from({ length: GROUP_LENGTH }, newCharacter).join('');

const newCharacter = (): string => ALPHABET.charAt(randomInt(ALPHABET.length));
