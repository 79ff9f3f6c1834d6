import { describe, expect, test } from '@jest/globals';
import { parcelKey, parcelKeys } from '../../../src/modules/tracking-numbers/parcel-keys.js';
import { trackingKey } from '../../../src/modules/tracking-numbers/tracking-key.js';
import { publishedVectors } from './data-set.js';

const LABEL = '1001921334250001000300779017972697';

describe('the key that a parcel stores', () => {
  test.each([
    '779017972697',
    '00779017972697',
    LABEL,
    `]C1${LABEL}`,
    `${LABEL}\r${LABEL}\r`,
    '7790 1797 2697',
  ])('is the 12 digits of FedEx for %j', (number) => {
    expect(parcelKey(number)).toBe('779017972697');
    expect(parcelKeys(number).key).toBe('779017972697');
  });

  test.each(['1z5r89390357567127', '1Z 5R8 939 03 5756 7127', ']C01Z5R89390357567127'])(
    'is the number in capital letters for %j',
    (number) => {
      expect(parcelKey(number)).toBe('1Z5R89390357567127');
    },
  );

  test.each([
    'trk-abc',
    'a b',
    '1z999aa10123456785',
    'Ä ß',
    '00779017972698',
    'ab'.repeat(9),
    'BOX]AB1',
    'x\u200dy',
  ])('is the text itself for %j, which no format describes', (number) => {
    expect(parcelKeys(number)).toMatchObject({ trackingNumber: number, key: number });
  });

  test('does not differ from the key of earlier versions for any published number without spaces in capital letters', () => {
    const numbers = publishedVectors()
      .map(({ number }) => number)
      .filter((number) => /^[0-9A-Z-]+$/.test(number));
    expect(numbers.length).toBeGreaterThan(200);
    expect(numbers.filter((number) => parcelKey(number) !== trackingKey(number))).toEqual([]);
  });
});

describe('the keys under which a scan finds rows', () => {
  test.each([
    ['FedEx padded to 14 digits', LABEL, ['779017972697', '00779017972697']],
    [
      'both numbers of a FedEx label',
      '1201921334250001000312345678901230',
      ['12345678901230', '345678901230'],
    ],
    [
      'the 15 digits of FedEx Ground',
      '9611020987654312345672',
      ['9611020987654312345672', '987654312345672'],
    ],
    ['the key of earlier versions', '1z5r89390357567127', ['1Z5R89390357567127', '1z5r89390357567127']],
    ['one half of a doubled text', '7K3M9QW7K3M9QW', ['7K3M9QW7K3M9QW', '7K3M9QW']],
    ['a plain number once', '1Z5R89390357567127', ['1Z5R89390357567127']],
  ])('contain %s', (_name, scan, keys) => {
    expect(parcelKeys(scan).keys).toEqual(keys);
  });
});
