import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readScan } from '../../../src/modules/tracking-numbers/public.js';
import { hasFedexCheckDigit } from '../../../src/modules/tracking-numbers/reader/fedex.js';
import { warningOf } from './warnings/warning-of.js';
import { rounds } from '../../support/harness/effort.js';

// Carriers print a number in groups, and people copy it with the word that stands in front of it.

const keysOf = (scan: string) => readScan(scan).numbers.map(({ key }) => key);
const inFours = (digits: string) => digits.replace(/(\d{4})(?=\d)/g, '$1 ');

const FEDEX = '757447467189';
const OTHER_FEDEX = '861669144564';
const FEDEX_14 = `26${FEDEX}`;
const UPS = '1Z999AA10123456784';
const USPS = '9400113154171380164968';
const S10 = 'RB123456785GB';

test.each([
  [`FedEx ${inFours(FEDEX)}`, FEDEX],
  [`TRK# ${inFours(FEDEX)}`, FEDEX],
  [`Fedex: ${inFours(FEDEX)}.`, FEDEX],
  [`${inFours(FEDEX)} Express`, FEDEX],
  [`Tracking number: ${inFours(FEDEX)}, thanks`, FEDEX],
  ['FedEx 7574\u00a04746\u00a07189', FEDEX],
  ['UPS 1Z 999 AA1 01 2345 6784', UPS],
  ['ups: 1z 999 aa1 01 2345 6784', UPS],
  [`USPS ${inFours(USPS)}`, USPS],
  ['Royal Mail RB 123 456 785 GB', S10],
  [`FedEx ${FEDEX_14}`, FEDEX_14],
  [`FedEx ${inFours(FEDEX_14)}`, FEDEX_14],
])('%j is the number', (scan, key) => {
  expect(keysOf(scan)).toEqual([key]);
  expect(keysOf(readScan(scan).text)).toEqual([key]);
  expect(warningOf(scan)).toBeUndefined();
});

test('the number is stored with its spaces, without the words', () => {
  expect(readScan(`FedEx ${inFours(FEDEX)}.`).text).toBe(inFours(FEDEX));
});

test('a row of an earlier version, stored with the words, is still found', () => {
  expect(readScan(`FedEx ${inFours(FEDEX)}`).numbers[0]?.keys).toContain(`FEDEX${FEDEX}`);
});

describe('digits that may be several numbers or a quantity stay whole, with a warning', () => {
  test.each([
    ['two numbers', `FedEx ${inFours(FEDEX)} ${inFours(OTHER_FEDEX)}`],
    ['a quantity', `FedEx ${inFours(FEDEX)} 2`],
    ['a quantity of two digits', `FedEx ${inFours(FEDEX)} 12`],
    ['pieces', `FedEx ${inFours(FEDEX)} 1/2`],
    ['a number in front', `FedEx 0002 ${inFours(FEDEX)}`],
    ['words between the groups', 'FedEx 7574 and 4746 7189'],
    ['other groups', 'FedEx 75744746 7189'],
    ['hyphens', 'FedEx 7574-4746-7189'],
    ['a wrong check digit', 'FedEx 7574 4746 7188'],
    ['a wrong check digit of UPS', 'UPS 1Z 999 AA1 01 2345 6785'],
    ['signs between', `FedEx/${FEDEX}`],
  ])('%s: %j', (_title, scan) => {
    expect(readScan(scan).text).toBe(scan);
    expect(warningOf(scan)).toMatchObject({
      code: 'unlikely_number',
      message: expect.stringContaining('has words beside the digits'),
    });
  });

  test('14 digits without the name of FedEx', () => {
    expect(readScan(`Order ${FEDEX_14}`).text).toBe(`Order ${FEDEX_14}`);
  });

  test('whatever the quantity is', () => {
    const number = fc.stringMatching(/^[1-9]\d{11}$/).filter(hasFedexCheckDigit);
    const quantity = fc.stringMatching(/^\d{1,4}$/);
    const property = fc.property(number, quantity, (digits, count) => {
      const scans = [`FedEx ${inFours(digits)} ${count}`, `FedEx ${count} ${inFours(digits)}`];
      expect(scans.map((scan) => readScan(scan).text)).toEqual(scans);
      expect(scans.flatMap(keysOf)).not.toContain(digits);
    });
    fc.assert(property, { numRuns: rounds(300, 20_000) });
  });
});

test.each(['ORDER 12345', 'DROPOFF 20240902 225642', UPS, `${UPS}-2`, 'UPS-2', 'TRUPS 12345678'])(
  '%j has no warning',
  (text) => {
    expect(warningOf(text)).toBeUndefined();
  },
);

test('groups of letters are no words', () => {
  const number = upsOf('ABCDEF01234567');
  const { groups } = /^(?<a>..)(?<b>...)(?<c>...)(?<d>..)(?<e>....)(?<f>....)$/.exec(number) ?? {};
  expect(keysOf(`UPS ${Object.values(groups ?? {}).join(' ')}`)).toEqual([number]);
});

/** Completes a number of UPS with its check digit. */
function upsOf(serial: string): string {
  const number = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']
    .map((check) => `1Z${serial}0${check}`)
    .find((each) => readScan(each).candidates.some(({ check }) => check === 'valid'));
  if (number === undefined) throw new Error(`${serial} has no check digit.`);
  return number;
}
