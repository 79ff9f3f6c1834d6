import { describe, expect, test } from '@jest/globals';
import { readScan } from '../../../src/modules/tracking-numbers/read-scan.js';
import { publishedVectors, type Vector } from './data-set.js';

const GS = '\u001d';
const vectors = publishedVectors();
const unspaced = (text: string) => text.replaceAll(' ', '');

// Symbologies with the modifiers that their readers send; ISO/IEC 15424.
const AIM_IDENTIFIERS = [
  'A0',
  'C0',
  'C1',
  'E0',
  'F0',
  'G0',
  'I1',
  'L2',
  'Q1',
  'Q3',
  'U1',
  'd1',
  'd2',
  'e0',
  'z3',
];

/** What scanners make of a number. */
const SPELLINGS: Record<string, (number: string) => string> = {
  'as published': (number) => number,
  spaced: (number) => [...unspaced(number)].join(' '),
  'in lower case': (number) => number.toLowerCase(),
  'with a CR': (number) => `${number}\r`,
  'with CR and LF': (number) => `${number}\r\n`,
  'with a TAB': (number) => `${number}\t`,
  'between STX and ETX': (number) => `\u0002${number}\u0003`,
  'between GS': (number) => `${GS}${number}${GS}`,
  'with GS inside': (number) => number.slice(0, 5) + GS + number.slice(5),
  'with a spelled GS inside': (number) => `${number.slice(0, 5)}<GS>${number.slice(5)}`,
  'with ^] inside': (number) => `${number.slice(0, 5)}^]${number.slice(5)}`,
  'with a byte order mark': (number) => `\ufeff${number}`,
  'between the asterisks of Code 39': (number) => `*${number}*`,
  'in full-width characters': (number) =>
    unspaced(number).replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0)),
  doubled: (number) => number + number,
  'doubled with a space': (number) => `${unspaced(number)} ${unspaced(number)}`,
  'doubled with a CR': (number) => `${number}\r${number}\r`,
  'doubled with AIM identifiers': (number) => `]C1${number}]C1${number}`,
  'doubled with AIM identifiers and TABs': (number) => `]d2${number}\t]d2${number}\t`,
  ...Object.fromEntries(
    AIM_IDENTIFIERS.map((identifier) => [
      `with the AIM identifier ]${identifier}`,
      (number: string) => `]${identifier}${number}`,
    ]),
  ),
};

const hasFormat = ({ carrier, format }: Vector, scan: string) =>
  readScan(scan).candidates.some((found) => found.carrier === carrier && found.format === format);

test('the data set has 39 formats, 192 valid and 88 invalid numbers', () => {
  const valid = vectors.filter(({ isValid }) => isValid);
  expect([valid.length, vectors.length - valid.length]).toEqual([192, 88]);
  expect(new Set(vectors.map(({ format }) => format)).size).toBe(39);
});

test.each(Object.entries(SPELLINGS))(
  'all 280 published numbers are answered correctly %s',
  (_name, spell) => {
    expect(vectors.filter((vector) => hasFormat(vector, spell(vector.number)) !== vector.isValid)).toEqual(
      [],
    );
  },
);

test('a wrong check digit is never valid: each other digit at the end of a checked number is refused', () => {
  const checked = vectors.filter(
    ({ number, isValid, carrier }) =>
      isValid && ['fedex', 'ups', 'usps', 'dhl'].includes(carrier) && /\d$/.test(number),
  );
  const wrong = checked.flatMap((vector) => {
    const number = unspaced(vector.number);
    const [found] = readScan(number).candidates.filter(({ format }) => format === vector.format);
    // The check digit of an ASTRA label is inside it.
    if (found?.check !== 'valid' || vector.format === 'fedex_astra_32') return [];
    return [...'0123456789']
      .filter((digit) => !number.endsWith(digit))
      .map((digit) => ({ ...vector, number: number.slice(0, -1) + digit }));
  });
  expect(wrong.length).toBeGreaterThan(500);
  expect(wrong.filter((vector) => hasFormat(vector, vector.number))).toEqual([]);
});

describe('the number that the customer was told', () => {
  const toldOf = (scan: string) =>
    readScan(scan).candidates.map(({ format, trackingNumber }) => `${format} ${trackingNumber}`);

  test.each([
    ['1001921334250001000300779017972697', ['fedex_34 779017972697']],
    ['9622001560001234567100794808390594', ['fedex_ground_gsn 794808390594']],
    ['1201921334250001000312345678901230', ['fedex_34 12345678901230']],
    ['32971514560102447849175802862014', ['fedex_astra_32 784917580286']],
    ['9611020987654312345672', ['fedex_ground_96 9611020987654312345672', 'fedex_ground 987654312345672']],
    ['420787459400111206206406260787', ['usps_impb_n 9400111206206406260787']],
    [']C1420787459400111206206406260787', ['usps_impb_n 9400111206206406260787']],
    ['4201002334249200190132607600833457', ['usps_impb_c 9200190132607600833457']],
    ['008182709980000020033350276C', ['dpd 09980000020033']],
    ['rb123456785gb', ['s10 RB123456785GB']],
  ])('of %s', (scan, told) => {
    expect(toldOf(scan)).toEqual(told);
  });

  test('all formats are reported, those with a check digit first', () => {
    const found = (scan: string) => readScan(scan).candidates.map(({ format, check }) => [format, check]);
    expect(found('287809468872')).toEqual([
      ['fedex_12', 'valid'],
      ['purolator_numeric', 'valid'],
    ]);
    expect(found('60120172242323').at(-1)).toEqual(['dhl_ecommerce_14', 'none']);
  });

  test.each(['TBA502887274000', 'YT2229521272164446', 'GFUS01011884214464'])(
    '%s only looks like its carrier',
    (number) => {
      const [candidate, ...others] = readScan(number).candidates;
      expect(others).toEqual([]);
      expect(candidate).toMatchObject({ check: 'none', explanation: expect.stringContaining('Looks like') });
    },
  );
});

describe('a scan that no format describes', () => {
  test.each([
    ['7K3M9QW', '7K3M9QW'],
    [']C17K3M9QW\r', '7K3M9QW'],
    ['DROPOFF-20240902-225642-547\t', 'DROPOFF-20240902-225642-547'],
    ['a number with spaces', 'a number with spaces'],
    ['X1\rX1\r', 'X1'],
    ['BOX]AB1', 'BOX]AB1'],
    [`${GS}\r\n`, ''],
  ])('%j keeps its text', (scan, text) => {
    expect(readScan(scan)).toMatchObject({ text, candidates: [] });
  });

  test('the parts of a matrix code are looked up too, and each is compared with the formats', () => {
    const { numbers, candidates } = readScan(
      `[)>\u001e01${GS}0233126${GS}840${GS}1Z5R89390357567127\u001e\u0004`,
    );
    expect(numbers.map(({ key }) => key)).toContain('1Z5R89390357567127');
    expect(candidates[0]).toMatchObject({ format: 'ups', check: 'valid' });
  });
});

test('hostile text of any length is read in less than 20 ms of CPU', () => {
  const runs = [
    '1',
    '1 ',
    ' ',
    'A',
    '0',
    '(',
    '*',
    ']C1',
    GS,
    '\r1',
    '1\r',
    '<GS>',
    '^]',
    'GM1',
    '420',
    '\u200b',
  ];
  const wholes = runs.flatMap((run) => [41, 255, 1_000].map((length) => run.repeat(length).slice(0, length)));
  const scans = [
    ...wholes,
    ...wholes.map((text) => `${text.slice(1)}x`),
    `9${'1 '.repeat(499)}`,
    '1'.repeat(1_000_000),
    `1${' '.repeat(100_000)}1`,
    `1${'\0'.repeat(100_000)}1`,
  ];
  // process.cpuUsage() counts the threads of the garbage collector too, so the least of three reads counts.
  const slow = scans.filter((scan) => {
    readScan(scan);
    return Math.min(...[1, 2, 3].map(() => cpuMicrosOf(() => readScan(scan)))) > 20_000;
  });
  expect(slow.map((scan) => scan.slice(0, 20))).toEqual([]);
});

function cpuMicrosOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
