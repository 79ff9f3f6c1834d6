import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readScan } from '../../../src/modules/tracking-numbers/read-scan.js';
import { rounds } from '../../support/harness/effort.js';
import { LAYERS, NOISE, STORED_NOISE } from '../../support/scans/noise.js';
import { publishedVectors } from './data-set.js';
import { matching } from '../../support/assertions/matching.js';

const NOISY = matching(STORED_NOISE, '*LCL-1*', 'LCL\u200b1', 'LCL\u001d1', ' LCL1');

const WITHOUT_FORMAT = ['LCL-1', 'DROPOFF-20240902-225642-547', 'X1', '00961', '7K3M9QW', 'Ä-ß-1', 'box 17'];

const PUBLISHED = publishedVectors()
  .filter(({ isValid }) => isValid)
  .map(({ number }) => number.trim());

const keyOf = (scan: string) => readScan(scan).numbers.map(({ key }) => key);

test.each(Object.entries(NOISE))(
  '%s changes the key of no number, with a format or without',
  (name, make) => {
    // Twelve or 1212: a short text that repeats itself may be a number.
    const isShort = (number: string) => name.startsWith('repetition') && number.length < 5;
    const numbers = [...PUBLISHED, ...WITHOUT_FORMAT].filter((number) => !isShort(number));
    const wrong = numbers.filter((number) => keyOf(make(number)).join() !== keyOf(number).join());
    expect(wrong).toEqual([]);
  },
);

test.each(Object.entries(NOISE))('%s is not stored', (_name, make) => {
  const texts = [...PUBLISHED, ...WITHOUT_FORMAT].map((number) => readScan(make(number)).text);
  expect(texts.filter((text) => NOISY.test(text))).toEqual([]);
});

const number = fc.oneof(
  fc.constantFrom(...PUBLISHED, ...WITHOUT_FORMAT.filter((text) => text.length >= 5)),
  fc.stringMatching(/^[0-9A-Za-z][0-9A-Za-z-]{4,28}[0-9A-Za-z]$/),
);

const layers = [
  fc.constantFrom(...LAYERS.spelling),
  fc.constantFrom(...LAYERS.label, (text: string) => text),
  fc.constantFrom(...LAYERS.device),
] as const;

test('several kinds of noise together change the key of no number, and what is stored has the same key', () => {
  fc.assert(
    fc.property(number, ...layers, (plain, spell, label, scanned) => {
      const scan = scanned(label(spell(plain)));
      expect(keyOf(scan)).toEqual(keyOf(plain));
      expect(keyOf(readScan(scan).text)).toEqual(keyOf(plain));
      expect(readScan(scan).text).not.toMatch(NOISY);
    }),
    { numRuns: rounds(2_000, 50_000) },
  );
});

test.each([
  ['a number of equal parts with a right check digit', '100016100016'],
  ['a date', '2024-2024'],
  ['a short number', '1212'],
])('%s is not taken for a repetition: %s', (_name, text) => {
  expect(keyOf(text)).toEqual([text]);
});

test('further layers of noise, in any order, change the key of no number', () => {
  const labels = fc.array(fc.constantFrom(...LAYERS.frames), { maxLength: 3 });
  fc.assert(
    fc.property(number, labels, layers[2], (plain, makes, scanned) => {
      const scan = scanned(makes.reduce((text, make) => make(text), plain));
      fc.pre(scan.length <= 1_000);
      expect(keyOf(scan)).toEqual(keyOf(plain));
    }),
    { numRuns: rounds(2_000, 50_000) },
  );
});

const anyCharacter = fc.string({ minLength: 1, maxLength: 1, unit: 'binary' });

test('any text is read without a failure, and what is stored is read as the same number', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 255, unit: fc.oneof(anyCharacter, fc.constantFrom('\ufdfa', '\u0390')) }),
      (scan) => {
        const { numbers, problem } = readScan(scan);
        expect(numbers.length > 0).toBe(problem === null);
        expect(numbers.length).toBeLessThanOrEqual(4);
        for (const { text, key, keys } of numbers) {
          expect(key.length).toBeLessThanOrEqual(255);
          expect(keys[0]).toBe(key);
          expect(key).not.toBe('');
          expect(keyOf(text)).toEqual([key]);
        }
      },
    ),
    { numRuns: rounds(2_000, 50_000) },
  );
});
