import { expect, test } from '@jest/globals';
import {
  shortNumber,
  withFedexCheck,
  withUspsCheck,
} from '../../../../fixtures/reference/tracking-numbers.js';
import { seededRandom } from '../../../../fixtures/demo/values/seeded-random.js';
import { rounds } from '../../../support/harness/effort.js';
import { publishedVectors } from '../data-set.js';
import { warningOf } from './warning-of.js';

// A spreadsheet removes the zeros in front of a number. Its parcel would not be found.

const unspaced = (text: string) => text.replaceAll(' ', '');
const messageOf = (number: string) => warningOf(number)?.message ?? 'no warning';

/** FedEx's example has the check digit of its 14 digits by chance. */
const isOther = (number: string) => number === '041441760228964';

const published = publishedVectors().filter(
  ({ number, isValid }) => isValid && /^0{1,2}[1-9]\d+$/.test(unspaced(number)) && !isOther(unspaced(number)),
);

test('the data set has numbers with zeros in front', () => {
  expect(new Set(published.map(({ carrier }) => carrier)).size).toBeGreaterThan(2);
});

test.each([
  ...new Set(published.map(({ number }) => unspaced(number))),
  withFedexCheck('05744746718'),
  withFedexCheck('00744746711'),
  withUspsCheck('0307179000052348374'),
])('%s without its zeros has a warning that names the whole number', (number) => {
  const without = number.replace(/^0+/, '');
  expect(messageOf(without)).toContain(`${number} (`);
  expect(messageOf([...without].join(' '))).toContain(`${number} (`);
  expect(messageOf(number)).toBe('no warning');
});

test('a number with a right check digit of its own has no warning', () => {
  const valid = publishedVectors().filter(({ isValid }) => isValid);
  const verified = valid.filter(({ format }) => format !== 'dhl_ecommerce_14');
  expect(verified.filter(({ number }) => warningOf(number))).toEqual([]);
});

test.each(['12345678', '1000', '00000000000', 'IEX-57447467189', '57447467189A'])(
  '%s is too short, or not only digits',
  (number) => {
    expect(messageOf(number)).toBe('no warning');
  },
);

// One check digit in ten is right by chance. The rates are stated in docs/decisions/0115.
test.each([
  [8, 0],
  [9, 0.11],
  [10, 0.17],
  [11, 0.18],
  [12, 0],
  [13, 0.13],
  [16, 0],
  [17, 0.12],
  [18, 0.18],
  [21, 0],
  [22, 0],
  [26, 0.04],
])('of random numbers with %i digits, at most the part %d has a warning', (length, expected) => {
  const random = seededRandom(length);
  const count = rounds(2_000, 20_000);
  // Not the ZIP code of a label, which is no number.
  const first = () => random.pick(['1', '2', '3', '5', '6', '7', '8', '9']);
  const sent = Array.from({ length: count }, () => first() + random.digits(length - 1));
  const share = sent.filter((number) => warningOf(number)).length / count;
  expect(share).toBeLessThanOrEqual(expected + (expected > 0 ? 0.03 : 0));
});

test('no number of the demo carriers as printed has a warning', () => {
  const random = seededRandom(7);
  const carriers = ['USPS', 'UPS', 'FedEx', 'DHL Express', 'Amazon Logistics', 'OnTrac'] as const;
  const numbers = Array.from({ length: 3_000 }, (_, n) => shortNumber(carriers[n % 6] ?? 'UPS', random));
  expect(numbers.filter((number) => warningOf(number))).toEqual([]);
});
