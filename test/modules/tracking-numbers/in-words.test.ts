import { expect, test } from '@jest/globals';
import { readScan } from '../../../src/modules/tracking-numbers/public.js';

const UPS = '1Z5R89390357567127';
const OTHER_UPS = '1Z999AA10123456784';
const S10 = 'RB123456785GB';

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
  `Tracking: ${UPS}`,
  `UPS ${UPS}`,
  `UPS ${UPS} (2 kg)`,
  `#${UPS}`,
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
