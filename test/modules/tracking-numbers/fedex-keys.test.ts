import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  fedexNumbersEndingIn,
  hasFedexCheckDigit,
} from '../../../src/modules/tracking-numbers/reader/fedex.js';

// The numbers of 14 digits that end in FedEx's 12 are computed. Trying all hundred cost ten times as much as the rest of the reading.

const WEIGHTS = [1, 3, 7];

/** The rule as FedEx describes it. */
function isRight(digits: string): boolean {
  const [check, ...others] = Array.from(digits, Number).reverse();
  const sum = others.reduce((total, digit, at) => total + digit * (WEIGHTS[at % 3] ?? 0), 0);
  return (sum % 11) % 10 === check;
}

const digitsOf = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));

/** The number with the check digit that makes it right. */
const completed = (serial: string): string =>
  Array.from({ length: 10 }, (_, check) => `${serial}${check}`).find(isRight) ?? '';

const TENS = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));

const tried = (digits: string): string[] => TENS.map((two) => two + digits).filter(isRight);

test.each([12, 14])('a number of %i digits has a right check digit by the rule of FedEx', (length) => {
  fc.assert(
    fc.property(digitsOf(length), (digits) => {
      expect(hasFedexCheckDigit(digits)).toBe(isRight(digits));
    }),
    { numRuns: 1_000 },
  );
});

test('the numbers that end in 12 digits are those of all hundred with a right check digit, in their order', () => {
  fc.assert(
    fc.property(digitsOf(11).map(completed), (digits) => {
      expect(fedexNumbersEndingIn(digits)).toEqual(tried(digits));
    }),
    { numRuns: 1_000 },
  );
});

test('so they are for a hundred numbers in a row, which have each remainder and each check digit', () => {
  const numbers = Array.from({ length: 100 }, (_, n) => completed(String(40_000_000_000 + n)));
  expect(new Set(numbers.map((digits) => digits.at(-1))).size).toBe(10);
  for (const digits of numbers) expect(fedexNumbersEndingIn(digits)).toEqual(tried(digits));
});
