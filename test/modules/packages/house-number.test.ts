import { expect, test } from '@jest/globals';
import { isHouseNumber, newHouseNumber } from '../../../src/modules/packages/intake/house-number.js';

const ALPHABET = Array.from('23456789ABCDEFGHJKMNPQRSTUVWXYZ');
const NUMBERS = 1_000;

const numbers = Array.from({ length: NUMBERS }, newHouseNumber);

test('a new number is seven characters that a marker pen keeps apart, and its check character fits', () => {
  for (const number of numbers) {
    expect(number).toMatch(/^[2-9A-HJKMNP-Z]{7}$/);
    expect(isHouseNumber(number)).toBe(true);
  }
});

test('numbers are not in sequence: a thousand of them do not repeat', () => {
  expect(new Set(numbers).size).toBe(NUMBERS);
});

test(`every wrong character in ${NUMBERS} numbers is detected`, () => {
  const accepted = numbers.flatMap((number) =>
    Array.from(number).flatMap((right, index) =>
      ALPHABET.filter((wrong) => wrong !== right)
        .map((wrong) => number.slice(0, index) + wrong + number.slice(index + 1))
        .filter(isHouseNumber),
    ),
  );
  expect(accepted).toEqual([]);
});

test(`every swap of two neighbours in ${NUMBERS} numbers is detected`, () => {
  const accepted = numbers.flatMap((number) => neighbourSwaps(number).filter(isHouseNumber));
  expect(accepted).toEqual([]);
});

test.each(['', 'ABCDEF', `${newHouseNumber()}2`, 'abcdefg', '0000000', '222222 ', '2222é22'])(
  '%j is no house number',
  (text) => {
    expect(isHouseNumber(text)).toBe(false);
  },
);

function neighbourSwaps(number: string): string[] {
  return Array.from(number)
    .slice(1)
    .flatMap((right, index) => {
      const left = number.charAt(index);
      return left === right ? [] : [number.slice(0, index) + right + left + number.slice(index + 2)];
    });
}
