import { randomText } from '../../../platform/values/ids.js';

// Digits and capital letters without 0, O, 1, I and L, which look alike in handwriting. 31 is a prime: the
// weighted checksum therefore detects every wrong character and every transposition of two adjacent
// characters.
export const SERIAL_ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const SERIAL_LENGTH = 6;

/**
 * Returns a new house number, which staff write on the box: six random characters and a check character, for
 * example `7K3M9QX`. It is random because a serial number would reveal to a courier how many parcels the
 * others receive. The caller retries if the number is already in use (887 million are possible).
 */
export function newHouseNumber(): string {
  const serial = randomText(SERIAL_ALPHABET, SERIAL_LENGTH);
  return serial + checkCharacter(serial);
}

/** Returns whether the text is a house number with a valid check character. */
export function isHouseNumber(text: string): boolean {
  const serial = text.slice(0, SERIAL_LENGTH);
  const isKnown =
    text.length === SERIAL_LENGTH + 1 &&
    Array.from(text).every((character) => SERIAL_ALPHABET.includes(character));
  return isKnown && text.endsWith(checkCharacter(serial));
}

/** Returns the check character of a serial: the sum of value x position, modulo 31. */
export function checkCharacter(serial: string): string {
  const sum = Array.from(serial).reduce(
    (total, character, index) => total + SERIAL_ALPHABET.indexOf(character) * (index + 1),
    0,
  );
  return SERIAL_ALPHABET.charAt(sum % SERIAL_ALPHABET.length);
}
