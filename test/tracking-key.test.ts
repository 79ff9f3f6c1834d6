import { describe, expect, test } from '@jest/globals';
import { trackingKey } from '../src/tracking-key.js';

const digits = (first: string, length: number) => first.padEnd(length, '0123456789');

describe('USPS', () => {
  test.each([20, 22, 26, 30])('420, a ZIP and a number of %i digits give the number', (length) => {
    const number = digits('94', length);
    expect(trackingKey(`42033126${number}`)).toBe(number);
    expect(trackingKey(`420331261234${number}`)).toBe(number);
  });

  test('the number alone is its own key', () => {
    expect(trackingKey('9400111899223100001234')).toBe('9400111899223100001234');
  });

  test.each([
    ['a number that does not begin with 9', `42033126${digits('84', 22)}`],
    ['a digit too few', `42033126${digits('94', 21)}`],
    ['a digit too many', `42033126${digits('94', 23)}`],
    ['another application identifier', `42133126${digits('94', 22)}`],
    ['a ZIP with a letter', `4203312A${digits('94', 22)}`],
    ['a space between', `42033126 ${digits('94', 22)}`],
    ['something in front', `A42033126${digits('94', 22)}`],
    ['a line break behind', `42033126${digits('94', 22)}\n`],
  ])('%s: the whole text is the key', (_name, number) => {
    expect(trackingKey(number)).toBe(number);
  });
});

describe('FedEx', () => {
  const routing = (first: string) => digits(first, 22);

  test.each(['96', '10'])('34 digits that begin with %s give the last 12', (first) => {
    expect(trackingKey(`${routing(first)}794644790132`)).toBe('794644790132');
  });

  test('the 12 digits alone are their own key', () => {
    expect(trackingKey('794644790132')).toBe('794644790132');
  });

  test.each([
    ['33 digits', digits('96', 33)],
    ['35 digits', digits('96', 35)],
    ['34 digits that begin otherwise', digits('92', 34)],
    ['34 characters with a letter', `96${'A'.repeat(20)}794644790132`],
  ])('%s: the whole text is the key', (_name, number) => {
    expect(trackingKey(number)).toBe(number);
  });
});

test.each(['1Z999AA10123456784', 'TBA123456789000', 'a', 'Ä ß', '1z999aa10123456784'])(
  '%j is its own key, byte for byte',
  (number) => {
    expect(trackingKey(number)).toBe(number);
  },
);

test('a key is its own key', () => {
  for (const number of [`42033126${digits('94', 22)}`, `${digits('96', 22)}794644790132`]) {
    expect(trackingKey(trackingKey(number))).toBe(trackingKey(number));
  }
});
