import { describe, expect, test } from '@jest/globals';
import { readScan } from '../../../src/modules/tracking-numbers/read-scan.js';
import { trackingKey } from '../../../src/modules/tracking-numbers/tracking-key.js';
import { publishedVectors } from './data-set.js';

const LABEL = '1001921334250001000300779017972697';
const DPD = '008182709980000020033350276C';
const FEDEX_GROUND = '9611020987654312345672';

/** Returns the only number of a scan. */
function numberIn(scan: string) {
  const { numbers } = readScan(scan);
  expect(numbers).toHaveLength(1);
  return numbers[0];
}

describe('the key that a parcel stores', () => {
  test.each([
    '779017972697',
    '00779017972697',
    LABEL,
    `]C1${LABEL}`,
    `${LABEL}\r${LABEL}\r`,
    '7790 1797 2697',
  ])('is the 12 digits of FedEx for %j', (number) => {
    expect(numberIn(number)?.key).toBe('779017972697');
  });

  test.each(['1z5r89390357567127', '1Z 5R8 939 03 5756 7127', ']C01Z5R89390357567127'])(
    'is the number in capital letters for %j',
    (number) => {
      expect(numberIn(number)?.key).toBe('1Z5R89390357567127');
    },
  );

  test.each([
    ['LCL-1', 'LCL-1'],
    ['lcl-1', 'LCL-1'],
    ['*LCL-1*', 'LCL-1'],
    ['"LCL-1"', 'LCL-1'],
    ['\u2018lcl-1\u2019', 'LCL-1'],
    ['LC L-1', 'LCL-1'],
    ['LC\u00a0L-1', 'LCL-1'],
    ['L\u200bCL-1\ufeff', 'LCL-1'],
    ['LCL\u20111', 'LCL-1'],
    ['LCL\u20131', 'LCL-1'],
    ['ＬＣＬ－１', 'LCL-1'],
    ['LCL-1LCL-1', 'LCL-1'],
    ['LCL-1 LCL-1', 'LCL-1'],
    ['lcl-1\rLCL-1\r', 'LCL-1'],
    [']C1LCL-1]C1LCL-1', 'LCL-1'],
    ['LCL\u001d-1', 'LCL-1'],
    ['BOX]AB1', 'BOX]AB1'],
    ['1212', '1212'],
    ['Ä ß', 'ÄSS'],
  ])('without a format is folded: %j is %j', (number, key) => {
    expect(numberIn(number)?.key).toBe(key);
  });

  test.each([
    [
      'the number of 26 digits after a ZIP code of 5',
      '4203316692419901234567000000000017',
      '92419901234567000000000017',
    ],
    [
      'the number of 22 digits after a ZIP code of 9',
      '4203312612349400111899223100001234',
      '9400111899223100001234',
    ],
    ['the 14 digits that DPD tells', DPD, '09980000020033'],
    ['the 15 digits inside the barcode of FedEx Ground', FEDEX_GROUND, '987654312345672'],
  ])('is %s', (_name, barcode, key) => {
    expect(numberIn(barcode)?.key).toBe(key);
  });

  test('the check digit decides between two numbers in a barcode of USPS', () => {
    // The last 22 digits begin like a number of USPS too. Their check digit is wrong.
    expect(numberIn('4203316692419400111899223100001234')?.key).toBe('92419400111899223100001234');
  });

  test('a published barcode finds each number that its candidates name, and has the key of the first of them', () => {
    const wrong = publishedVectors().filter(({ number, isValid }) => {
      const read = numberIn(number);
      if (!isValid || !read) return false;
      const named = read.candidates.map(({ trackingNumber }) => trackingNumber);
      const keys = named.map((each) => numberIn(each)?.key ?? '');
      return keys.some((key) => !read.keys.includes(key)) || !keys.includes(read.key);
    });
    expect(wrong).toEqual([]);
  });

  test('differs from the key of earlier versions only for the barcode of FedEx Ground, and for DPD, whose published numbers have spaces', () => {
    const numbers = publishedVectors().filter(
      ({ number, isValid }) => isValid && /^[0-9A-Z-]+$/.test(number),
    );
    expect(numbers.length).toBeGreaterThan(100);
    const differing = numbers.filter(({ number }) => numberIn(number)?.key !== trackingKey(number));
    expect(new Set(differing.map(({ format }) => format))).toEqual(new Set(['fedex_ground_96']));
  });
});

describe('the text that a parcel stores', () => {
  test.each([
    [' lcl-1 ', 'lcl-1'],
    ['LC L-1', 'LC L-1'],
    ['*lcl-1*', 'lcl-1'],
    [']C1LCL-1\r', 'LCL-1'],
    ['L\u200bCL-1', 'LCL-1'],
    ['LCL-1LCL-1', 'LCL-1'],
    ['7790 1797 2697', '7790 1797 2697'],
    [LABEL, LABEL],
    ['trk-abc', 'trk-abc'],
    ['Ä ß', 'Ä ß'],
  ])('of %j is %j: the spelling stays, and what a scanner adds does not', (scan, text) => {
    expect(numberIn(scan)?.text).toBe(text);
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
    ['the barcode and the 15 digits of FedEx Ground', FEDEX_GROUND, ['987654312345672', FEDEX_GROUND]],
    ['the key of earlier versions', '1z5r89390357567127', ['1Z5R89390357567127', '1z5r89390357567127']],
    ['one half of a doubled text', '7K3M9QW7K3M9QW', ['7K3M9QW', '7K3M9QW7K3M9QW']],
    ['a plain number once', '1Z5R89390357567127', ['1Z5R89390357567127']],
    ['a plain number without a format once', 'LCL-1', ['LCL-1']],
  ])('contain %s', (_name, scan, keys) => {
    expect(numberIn(scan)?.keys).toEqual(keys);
  });
});

describe('a scan of several symbols', () => {
  const numbersIn = (scan: string) => readScan(scan).numbers.map(({ text }) => text);

  test.each([
    ['TWO1\r00961', ['TWO1', '00961']],
    ['TWO1\u001d00961', ['TWO100961', 'TWO1', '00961']],
    ['1Z5R89390357567127\r00961', ['1Z5R89390357567127', '00961']],
    [
      `[)>\u001e01\u001d0233126\u001d840\u001d1Z5R89390357567127\u001e\u0004`,
      ['0233126', '1Z5R89390357567127'],
    ],
  ])('%j has several numbers', (scan, numbers) => {
    expect(numbersIn(scan)).toEqual(numbers);
  });

  test('the spellings of one number are one number', () => {
    expect(numbersIn(`${LABEL}\r779017972697`)).toEqual([LABEL]);
  });

  test.each([
    ['1001921334250001800354779017972697', '779017972697'],
    ['1001921334250001800354779017972697', '54779017972697'],
    ['00340123456789012341', '340123456789012341'],
  ])('the label %j and the number inside it are one number, in any order', (label, inside) => {
    for (const scan of [`${label}\r${inside}`, `${inside}\r\n${label}`, `${inside}\r${label}\r${inside}`])
      expect(readScan(scan).numbers.map(({ key }) => key)).toEqual([numberIn(label)?.key]);
  });

  test('two labels of FedEx that end with the same 12 digits are two numbers', () => {
    const labels = ['54779017972697', '67779017972697'].map((number) => `10019213342500018003${number}`);
    expect(numbersIn(labels.join('\r'))).toEqual(labels);
  });

  test('at most four numbers are read', () => {
    const scan = Array.from({ length: 40 }, (_, n) => `NUMBER${n}`).join('\r');
    expect(numbersIn(scan)).toHaveLength(4);
  });
});

test.each([
  ['a\u0001b', 'control_characters'],
  ['a\u007fb', 'control_characters'],
  ['a\u009bb', 'control_characters'],
  ['\u0001ab\u0004', null],
  [']C1', 'blank'],
  ['***', 'blank'],
  ['\u200b', 'blank'],
])('the problem of %j is %j', (scan, problem) => {
  expect(readScan(scan).problem).toBe(problem);
});

test('a label of USPS that fits the format of FedEx by chance looks up only the number of USPS', () => {
  const label = '4203312612349400111899123456789393';
  const number = readScan(label).numbers[0];
  expect(number?.candidates.map(({ carrier }) => carrier)).not.toContain('fedex');
  expect(number?.candidates).not.toEqual([]);
  expect(number?.keys).toEqual(['9400111899123456789393']);
});
