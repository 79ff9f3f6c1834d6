import { randomInt } from 'node:crypto';

// Digits and capitals without 0, O, 1, I and L, which a marker pen makes alike. 31 is a prime: with it the
// weighted sum below catches every single wrong character and every swap of two neighbours.
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const SERIAL_LENGTH = 6;

/**
 * A house number: what staff write on the box. Six random characters and a check character, for example
 * `7K3M9QX`. Random, because a serial would tell one courier how many parcels the others get; the caller
 * retries on the rare number that is taken (887 million are possible).
 */
export function newHouseNumber(): string {
  let serial = '';
  while (serial.length < SERIAL_LENGTH) serial += ALPHABET.charAt(randomInt(ALPHABET.length));
  return serial + checkCharacter(serial);
}

/** Whether a house number was read right: seven known characters, the last of which fits the others. */
export function isHouseNumber(text: string): boolean {
  const serial = text.slice(0, SERIAL_LENGTH);
  const isKnown =
    text.length === SERIAL_LENGTH + 1 && Array.from(text).every((character) => ALPHABET.includes(character));
  return isKnown && text.endsWith(checkCharacter(serial));
}

/** The character that belongs behind a serial: the sum of value x position, modulo 31. */
export function checkCharacter(serial: string): string {
  const sum = Array.from(serial).reduce(
    (total, character, index) => total + ALPHABET.indexOf(character) * (index + 1),
    0,
  );
  return ALPHABET.charAt(sum % ALPHABET.length);
}
