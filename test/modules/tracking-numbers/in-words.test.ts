import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readScan } from '../../../src/modules/tracking-numbers/public.js';
import { hasFedexCheckDigit } from '../../../src/modules/tracking-numbers/reader/fedex.js';
import { rounds } from '../../support/harness/effort.js';

const UPS = '1Z5R89390357567127';
const OTHER_UPS = '1Z999AA10123456784';
const S10 = 'RB123456785GB';
const FEDEX = '757447467189';
const OTHER_FEDEX = '861669144564';
const USPS = '9400113154171380164968';
const AMAZON = 'TBA305123456710';
const OTHER_AMAZON = 'TBC305123456711';

const textsOf = (scan: string) => readScan(scan).numbers.map(({ text }) => text);

test.each([
  ', ',
  ' ',
  ';',
  '; ',
  '/',
  ' / ',
  ' + ',
  '+',
  ' and ',
  ' y ',
  '-',
  ' - ',
  '_',
  '|',
  ' & ',
  '\t',
  '\n',
  ':',
  '.',
])('two numbers of carriers with %j between them are two numbers', (separator) => {
  expect(textsOf(`${UPS}${separator}${OTHER_UPS}`).sort()).toEqual([UPS, OTHER_UPS].sort());
  expect(textsOf(`${UPS}${separator}${S10}`.toLowerCase())).toHaveLength(2);
});

test.each([
  [UPS, AMAZON],
  [AMAZON, S10],
  [AMAZON, OTHER_AMAZON],
])('%s and %s are two numbers, although one of Amazon has no check digit', (first, second) => {
  for (const separator of [' ', ', ', ';', '/', ' and '])
    for (const scan of [`${first}${separator}${second}`, `${second}${separator}${first}`])
      expect([scan, textsOf(scan).sort()]).toEqual([scan, [first, second].sort()]);
  // A number of Amazon alone is none that could be taken out of words.
  expect(textsOf(`Order ${AMAZON}`)).toEqual([`Order ${AMAZON}`]);
});

test.each([
  [UPS, OTHER_UPS],
  [AMAZON, UPS],
  [S10, AMAZON],
  [AMAZON, OTHER_AMAZON],
  [UPS, S10],
])('%s and %s that a scanner sends without anything between are two numbers', (first, second) => {
  expect(textsOf(first + second).sort()).toEqual([first, second].sort());
  expect(textsOf(`*${second}${first}*`.toLowerCase())).toHaveLength(2);
  // The same one twice is one number.
  expect(textsOf(first + first)).toEqual([first]);
  // Rows of before have the whole text as their key.
  for (const { keys } of readScan(first + second).numbers) expect(keys).toContain(first + second);
});

test('a word is two numbers only if both are certain', () => {
  for (const scan of [
    UPS + USPS,
    `${UPS}12345`,
    `ABC${UPS}`,
    `${UPS}${'A'.repeat(15)}`,
    'ABCDEFGHIJ1234567890KLMNOPQR',
  ])
    expect([scan, textsOf(scan)]).toEqual([scan, [scan]]);
});

test.each([
  `Tracking: ${UPS}`,
  `UPS ${UPS}`,
  `UPS ${UPS} (2 kg)`,
  `#${UPS}`,
  `#${UPS}#${UPS}`,
  `No. ${UPS}.`,
  `https://www.ups.com/track?loc=en_US&tracknum=${UPS}&requester=ST/trackdetails`,
  `tracking number is ${UPS}, thanks`,
  `${UPS} ${UPS}`,
])('%j is the number among its words', (scan) => {
  const { numbers, candidates } = readScan(scan);
  expect(numbers).toHaveLength(1);
  expect(numbers[0]).toMatchObject({ key: UPS, folded: UPS });
  expect(candidates[0]).toMatchObject({ carrier: 'ups', check: 'valid' });
});

test.each([
  ['a piece of a number', `${UPS}-2`],
  ['a number of the shop', 'ORDER 12345'],
  ['a wrong check digit', 'UPS 1Z5R89390357567128'],
  ['words', 'no number yet'],
])('%s is read as before', (_title, scan) => {
  expect(readScan(scan).numbers).toHaveLength(1);
  expect(readScan(scan).numbers[0]?.text).toBe(scan);
});

test('a row of an earlier version, stored with the words, is still found', () => {
  expect(readScan(`UPS ${UPS}`).numbers[0]?.keys).toContain(`UPS${UPS}`);
});

test.each([
  `FedEx ${FEDEX}`,
  `FedEx:${FEDEX}`,
  `Tracking number: ${FEDEX}`,
  `FedEx tracking #${FEDEX}`,
  `${FEDEX} Número`,
  `FedEx, ${FEDEX} fragile`,
])('%j is the number of digits among names', (scan) => {
  expect(textsOf(scan)).toEqual([FEDEX]);
});

const FRAMES = [
  ['PO/', '/A'],
  ['PO/', '/B'],
  ['', '_A'],
  ['', '_B'],
  ['', '-A'],
  ['', ' A'],
  ['', ' B'],
  ['', ' -2'],
  ['', ' \u20134'],
  ['', ' - 3'],
  ['INV ', ' 3'],
  ['INV ', ' 4'],
  ['', ' 1/2'],
  ['', ' 2/2'],
  ['', ' (3/4)'],
  ['', ', 5/6'],
  ['', ' #12'],
  ['', ' #13'],
  ['PO ', ''],
  ['', ' é'],
  ['', ''],
] as const;

test('a reference of digits in a frame is never the parcel of another frame, whatever check digit it has by chance', () => {
  const reference = fc.oneof(
    fc.stringMatching(/^[1-9]\d{9,14}$/),
    fc.stringMatching(/^[1-9]\d{11}$/).filter(hasFedexCheckDigit),
  );
  fc.assert(
    fc.property(reference, (digits) => {
      const keys = FRAMES.map(([front, back]) =>
        readScan(`${front}${digits}${back}`).numbers.flatMap((number) => number.keys),
      );
      const distinct = keys.map((own) => [...new Set(own)]);
      expect(new Set(distinct.flat()).size).toBe(distinct.flat().length);
    }),
    { numRuns: rounds(1_000, 50_000) },
  );
});

test.each([
  `https://example.com/${FEDEX}`,
  `FedEx/${FEDEX}`,
  `FedEx-${FEDEX}`,
  `${FEDEX}/${OTHER_FEDEX}`,
  `${FEDEX} 12 ${OTHER_FEDEX}`,
])('the digits in %j are not taken out of it', (scan) => {
  expect(textsOf(scan)).toEqual([scan]);
});

test.each([
  ['two numbers of digits', `${FEDEX} and ${OTHER_FEDEX}`, [FEDEX, OTHER_FEDEX]],
  ['a long number of digits beside one with letters', `${UPS} ${USPS}`, [UPS, USPS]],
  ['an order number of 10 digits', `${UPS} order 1759069325`, [UPS]],
  ['an order number of 12 digits', `${UPS} order ${FEDEX}`, [UPS]],
  ['two pieces', `${UPS}-1 ${OTHER_UPS}-2`, [`${UPS}-1`, `${OTHER_UPS}-2`]],
  ['two pieces of one number', `${UPS}-1, ${UPS}-2`, [`${UPS}-1`, `${UPS}-2`]],
  ['many words between', `${UPS} ${'w '.repeat(40)}${OTHER_UPS}`, [UPS, OTHER_UPS]],
])('in a list with %s, each parcel keeps its number', (_title, scan, numbers) => {
  expect(textsOf(scan).sort()).toEqual(numbers.sort());
});

test.each([`${USPS}/${UPS}`, `${UPS}-${USPS}`, `${UPS}-1-${OTHER_UPS}`])(
  '%j stays whole, because one of the numbers can be a piece or a reference',
  (scan) => {
    expect(textsOf(scan)).toEqual([scan]);
  },
);

const keyOf = (scan: string) => readScan(scan).numbers.map(({ key }) => key);

test.each(['-7', ' -7', '- 7', '_7', '\u20137', '\u2212A'])(
  'a number with the piece %j among words is that piece',
  (piece) => {
    const [key] = keyOf(`${UPS}${piece}`);
    expect(key).not.toBe(UPS);
    expect(keyOf(`UPS ${UPS}${piece}`)).toEqual([key]);
    expect(keyOf(`${UPS}${piece} (2 kg)`)).toEqual([key]);
    expect(readScan(`UPS ${UPS}${piece}`).numbers[0]?.keys).not.toContain(UPS);
  },
);
