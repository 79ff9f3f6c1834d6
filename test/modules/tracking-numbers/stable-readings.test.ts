import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readScan } from '../../../src/modules/tracking-numbers/public.js';
import { rounds } from '../../support/harness/effort.js';
import { LAYERS, NOISE } from '../../support/scans/noise.js';
import { publishedVectors } from './data-set.js';

// A row stores the text of a number. Other operations read that text again, so it must lead to the same key.

const PUBLISHED = publishedVectors()
  .filter(({ isValid }) => isValid)
  .map(({ number }) => number.trim());

const WORDS = [
  'UPS',
  'FedEx',
  'TRK#',
  'USPS:',
  'UPSN',
  'ref 12',
  '#',
  '# 7',
  'of',
  'é',
  '(2 kg)',
  'No.',
  '420331',
  '[)>',
  '01',
];

const inGroups = (text: string) => text.replace(/(.{4})(?=.)/g, '$1 ');
const part = fc.oneof(
  fc.constantFrom(...PUBLISHED),
  fc.constantFrom(...PUBLISHED).map(inGroups),
  fc.constantFrom(...PUBLISHED).map((text) => text.toLowerCase()),
  fc.constantFrom(...WORDS),
  fc.stringMatching(/^\d{1,22}$/),
  fc.stringMatching(/^[0-9A-Za-z-]{1,12}$/),
);
const GLUE = [
  '',
  ' ',
  ' ',
  ' ',
  '-',
  ' - ',
  '/',
  ': ',
  ', ',
  '\n',
  '\t',
  '\u001d',
  '<GS>',
  '^]',
  '|',
  '(',
  ')',
  '"',
  '*',
  '.',
  '#',
  '\u200b',
  '\u2010',
  '\u3000',
  '\uff0d',
  ']C1',
  ']d2',
  'ß',
  '\ufb01',
];
const glue = fc.constantFrom(...GLUE);
const scans = fc
  .array(fc.tuple(part, glue), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.flat().join('').slice(0, 255));
const noise = fc.constantFrom(...Object.values(NOISE), ...LAYERS.frames, (text: string) => text);

/** The key that each number has, and the keys that its text is read as. */
const readAgain = (scan: string) =>
  readScan(scan).numbers.map(({ text, key }) => ({
    scan,
    text,
    key,
    again: readScan(text).numbers.map((number) => [number.key, number.text]),
  }));

const isStable = (scan: string) => {
  const read = readAgain(scan);
  expect(read).toEqual(read.map((number) => ({ ...number, again: [[number.key, number.text]] })));
};

test.each([
  'UPSN\u001dRR828356607US #',
  'UPSN\u001dFedEx 7574 4746 7189',
  '01\u001dUPS 1Z999AA10123456784\u001dX',
  'UPS 1Z5R8939\u001d0357567127',
  '[)>\u001eRR828356607US, FedEx',
  // A ZIP code whose two parts are read twice, and two ZIP codes.
  '[420331\u001d00][420331\u001d00]',
  '42033100\n42033101',
  '42033100 42033101\nUPSN;420-33100',
  // Amazon's number beside another one, with a hyphen between, and as a piece.
  'RB123456785GB-TBA000000000000',
  'RB123456785GB\uff0dtba000000000000',
  'RB123456785GB-2-TBA000000000000',
  // Two numbers without anything between, sent twice.
  'TBA000000000000D10011345983010 TBA000000000000D10011345983010',
])('%j is stored as it is read again', (scan) => {
  isStable(scan);
});

test('the words around the only number in an element of a matrix code are removed', () => {
  expect(readScan('UPSN\u001dRR828356607US #').numbers).toMatchObject([
    { text: 'RR828356607US', key: 'RR828356607US' },
  ]);
});

test('every number that a scan may mean has the same key when its text is read again', () => {
  fc.assert(
    fc.property(scans, noise, (scan, make) => {
      isStable(make(scan).slice(0, 1_000));
    }),
    { numRuns: rounds(3_000, 200_000) },
  );
});
