import { randomInt } from 'node:crypto';

// Without 0 and O, 1, l and I, which are mistaken for one another when read out or copied by hand.
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** A password for one login, as `w7Kq-Rm4T-xZ9f-HcV3`: 93 bits. How long it lasts, who stores it says. */
export function newOneTimePassword(): string {
  const groups = Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join(''),
  );
  return groups.join('-');
}
