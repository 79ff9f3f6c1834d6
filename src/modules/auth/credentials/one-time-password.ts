import { randomInt } from 'node:crypto';

/** Without 0 and O, 1, l and I, which look alike when they are read out or copied by hand. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** Days that a one-time password lasts. */
export const ONE_TIME_PASSWORD_DAYS = 7;

/** Four groups of four characters, 93 bits, to be handed to a user who must change it at the first login. */
export function newOneTimePassword(): string {
  return Array.from({ length: GROUPS }, newGroup).join('-');
}

const newGroup = (): string => Array.from({ length: GROUP_LENGTH }, newCharacter).join('');

const newCharacter = (): string => ALPHABET.charAt(randomInt(ALPHABET.length));
