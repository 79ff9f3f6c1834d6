import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createScanner, type Decision, type Scan } from '../../console/src/scanner/scanner.js';
import { rounds } from '../support/harness/effort.js';

const PLAIN = { prefix: '', suffix: '' };

type Typed = { decisions: Decision[]; scans: Scan[]; endMs: number };

/** Presses keys with the given milliseconds between them, then waits for the pause as the page does. */
function press(
  keys: string[],
  gapsMs: number[],
  settings = PLAIN,
  scanner = createScanner(() => settings),
  startMs = 0,
): Typed {
  let timeMs = startMs;
  const decisions = keys.map((key, index) => {
    timeMs += gapsMs[index] ?? 0;
    return scanner.key({ key, timeMs });
  });
  const scans = decisions.flatMap(({ scan }) => (scan ? [scan] : []));
  const last = scanner.pause(timeMs + scanner.pauseMs());
  return { decisions, scans: last ? [...scans, last] : scans, endMs: timeMs };
}

const textsOf = ({ scans }: Typed) => scans.map(({ text }) => text);
const actionsOf = ({ decisions }: Typed) => decisions.map(({ action }) => action);

// The first gap is the time before the first key.
const USB = [0, 4, 3, 5, 4, 4, 3, 6, 4, 4, 5, 3, 4];
const BLUETOOTH = [0, 12, 18, 9, 31, 88, 14, 11, 27, 16, 104, 15, 13];
const FAST_TYPIST = [0, 92, 61, 118, 34, 71, 29, 33, 84, 140, 66, 31, 95];
const CODE = [...'1Z999AA10123'];

describe('a scanner', () => {
  test.each([
    ['a cable', USB],
    ['Bluetooth, with pauses inside the code', BLUETOOTH],
  ])('over %s is recognised at the fourth key, and its keys stay out of the field', (_, gapsMs) => {
    const typed = press([...CODE, 'Enter'], gapsMs);
    expect(typed.scans).toEqual([{ text: '1Z999AA10123', isAgain: false }]);
    expect(actionsOf(typed)).toEqual(['pass', 'pass', 'pass', 'undo', ...Array<string>(9).fill('swallow')]);
    expect(typed.decisions[0]?.begins).toBe(true);
  });

  test('may end a code with Tab, or with nothing', () => {
    expect(textsOf(press([...CODE, 'Tab'], USB))).toEqual(['1Z999AA10123']);
    expect(textsOf(press(CODE, USB))).toEqual(['1Z999AA10123']);
  });

  test('sends GS as Ctrl and ], which stays in the code', () => {
    const scanner = createScanner(() => PLAIN);
    [...'0100'].forEach((key, index) => scanner.key({ key, timeMs: index * 4 }));
    scanner.key({ key: ']', timeMs: 16, hasControl: true });
    scanner.key({ key: '7', timeMs: 20 });
    expect(scanner.pause(20 + scanner.pauseMs())?.text).toBe('0100\u001d7');
  });

  test('may send Shift between the characters', () => {
    expect(textsOf(press(['Shift', '1', 'Z', 'Shift', '9', '9', 'A', 'Enter'], USB))).toEqual(['1Z99A']);
  });

  test('may add a prefix and a suffix, which are removed', () => {
    const settings = { prefix: '~', suffix: '#!' };
    expect(textsOf(press([...'~1Z999AA1#!', 'Enter'], USB, settings))).toEqual(['1Z999AA1']);
    expect(textsOf(press([...'1Z999AA1', 'Enter'], USB, settings))).toEqual(['1Z999AA1']);
  });

  test('sends any code of any length unchanged', () => {
    const character = fc.constantFrom(...'ABCXYZ0123456789-./$+% abc');
    const code = fc.array(character, { minLength: 4, maxLength: 60 }).map((all) => all.join(''));
    const gaps = fc.array(fc.integer({ min: 0, max: 35 }), { minLength: 61, maxLength: 61 });
    fc.assert(
      fc.property(code, gaps, (text, gapsMs) => {
        expect(textsOf(press([...text, 'Enter'], gapsMs))).toEqual(text.trim() === '' ? [] : [text.trim()]);
      }),
      { numRuns: rounds(300, 20_000) },
    );
  });
});

describe('a code that is sent again', () => {
  const scanTwice = (pauseMs: number, second = CODE) => {
    const scanner = createScanner(() => PLAIN);
    const first = press([...CODE, 'Enter'], USB, PLAIN, scanner);
    const again = press([...second, 'Enter'], USB, PLAIN, scanner, first.endMs + pauseMs);
    return [...first.scans, ...again.scans].map(({ isAgain }) => isAgain);
  };

  test('a moment later is reported as the same scan', () => expect(scanTwice(400)).toEqual([false, true]));
  test('two seconds later is a scan of its own', () => expect(scanTwice(2_000)).toEqual([false, false]));
  test('is not confused with another code', () =>
    expect(scanTwice(200, [...'TBA47'])).toEqual([false, false]));

  test('without a pause between them gives two scans, even if the timer is late', () => {
    const scanner = createScanner(() => PLAIN);
    const scans = [...'ABCDE', ...'VWXYZ'].flatMap((key, index) => {
      const { scan } = scanner.key({ key, timeMs: index * 4 + (index < 5 ? 0 : 500) });
      return scan ? [scan.text] : [];
    });
    expect([...scans, scanner.pause(1_200)?.text]).toEqual(['ABCDE', 'VWXYZ']);
  });
});

test('a scanner that ends its scans with a key may hesitate for up to a second', () => {
  const scanner = createScanner(() => PLAIN);
  press([...'ABCDE', 'Enter'], USB, PLAIN, scanner);
  for (const [index, key] of [...'1Z99'].entries()) scanner.key({ key, timeMs: 2_000 + index * 4 });
  expect(scanner.pause(2_012 + 600)).toBeUndefined();
  const rest = press([...'9AA1', 'Enter'], USB, PLAIN, scanner, 2_712);
  expect(rest.scans.map(({ text }) => text)).toEqual(['1Z999AA1']);
});

describe('a person', () => {
  test('who types fast and rolls over three keys is not a scanner', () => {
    const typed = press([...CODE, 'Enter'], FAST_TYPIST);
    expect(typed.scans).toEqual([]);
    expect(new Set(actionsOf(typed))).toEqual(new Set(['pass']));
  });

  test('who holds a key down is not a scanner', () => {
    const scanner = createScanner(() => PLAIN);
    const actions = Array.from({ length: 20 }, (_, index) =>
      scanner.key({ key: '0', timeMs: index * 30, isRepeat: index > 0 }),
    ).map(({ action }) => action);
    expect(new Set(actions)).toEqual(new Set(['pass']));
    expect(scanner.pause(10_000)).toBeUndefined();
  });

  test('is never taken for a scanner without three fast gaps in a row', () => {
    const slow = fc.integer({ min: 36, max: 400 });
    const roll = fc.tuple(slow, fc.integer({ min: 0, max: 35 }), fc.integer({ min: 0, max: 35 }));
    const gaps = fc.array(
      fc.oneof(
        slow.map((gap) => [gap]),
        roll,
      ),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(gaps, (groups) => {
        const gapsMs = groups.flat();
        const typed = press(
          gapsMs.map((_, index) => (index % 9 === 8 ? 'Enter' : 'a')),
          gapsMs,
        );
        expect(typed.scans).toEqual([]);
      }),
      { numRuns: rounds(300, 20_000) },
    );
  });
});
