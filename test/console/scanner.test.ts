import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createScanner, type Decision, type Reading, type Scan } from '../../console/src/scanner/scanner.js';
import { keysOf, RECORDED_SCANNERS, type RecordedScanner } from '../support/console/recorded-scanners.js';
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
  const last = scanner.pause(timeMs + scanner.pauseMs());
  return { decisions, scans: [...decisions, last].flatMap(scansIn), endMs: timeMs };
}

const scansIn = (decision: Decision | undefined): Scan[] =>
  [decision?.before?.reading, decision?.reading].flatMap((reading) =>
    reading?.kind === 'scan' ? [reading.scan] : [],
  );

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
    expect(scansIn(scanner.pause(20 + scanner.pauseMs()))[0]?.text).toBe('0100\u001d7');
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
      const decision = scanner.key({ key, timeMs: index * 4 + (index < 5 ? 0 : 700) });
      return scansIn(decision).map(({ text }) => text);
    });
    const last = scansIn(scanner.pause(1_500)).map(({ text }) => text);
    expect([...scans, ...last]).toEqual(['ABCDE', 'VWXYZ']);
  });
});

test('a scanner that ends its scans with a key may hesitate for more than a second', () => {
  const scanner = createScanner(() => PLAIN);
  press([...'ABCDE', 'Enter'], USB, PLAIN, scanner);
  for (const [index, key] of [...'1Z99'].entries()) scanner.key({ key, timeMs: 2_000 + index * 4 });
  expect(scanner.pause(2_012 + 1_200)).toBeUndefined();
  const rest = press([...'9AA1', 'Enter'], USB, PLAIN, scanner, 3_312);
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
    const slow = fc.integer({ min: 61, max: 400 });
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

describe('keys that no field takes', () => {
  const slow = (place: 'none' | 'code', gapMs: number, end: 'Enter' | 'Tab') => {
    const scanner = createScanner(() => PLAIN);
    const decisions = [...CODE, end].map((key, index) =>
      scanner.key({ key, timeMs: 1_000 + index * gapMs, place }),
    );
    return decisions.flatMap(scansIn).map(({ text }) => text);
  };

  test.each([60, 80, 120])('are a scan at %i ms per key', (gapMs) => {
    expect(slow('none', gapMs, 'Enter')).toEqual([CODE.join('')]);
    expect(slow('code', gapMs, 'Tab')).toEqual([CODE.join('')]);
  });

  test('are a person’s in a field for a number that Enter ends', () => {
    expect(slow('code', 120, 'Enter')).toEqual([]);
  });

  test('press no button right after a character', () => {
    const scanner = createScanner(() => PLAIN);
    scanner.key({ key: 'E', timeMs: 1_000, place: 'none' });
    expect(scanner.isInBurst(1_120)).toBe(true);
    expect(scanner.isInBurst(1_500)).toBe(false);
  });
});

describe('every key of a scan counts', () => {
  type Before = { fieldText?: string; place: 'code' | 'measure' | 'text' };

  /** Sends a code as the scanner did, after a long pause, into a field for codes or for a weight. */
  function send(recorded: RecordedScanner, code: string, before: Before): Reading[] {
    const { prefix = '', suffix = '' } = recorded;
    const scanner = createScanner(() => ({ prefix, suffix }));
    let timeMs = 10_000;
    const readings = keysOf(recorded, code).flatMap(({ key, gapMs }) => {
      timeMs += gapMs;
      return scanner.key({ key, timeMs, ...before }).reading ?? [];
    });
    const last = scanner.pause(timeMs + scanner.pauseMs())?.reading;
    return last ? [...readings, last] : readings;
  }

  const CODES = ['8480000832431', '1Z999AA10123456784', '9400111899223344556677', 'TBA305412345678'];
  const cases = RECORDED_SCANNERS.flatMap((recorded) =>
    CODES.map((code) => [recorded.name, code, recorded] as const),
  );

  test.each(cases)('%s: %s, while a parcel waits for its weight', (_, code, recorded) => {
    const typed = send(recorded, code, { place: 'measure', fieldText: '' });
    expect(typed).toEqual([{ kind: 'scan', scan: { text: code, isAgain: false } }]);
  });

  test.each(cases)('%s: %s, into the empty field for a number', (_, code, recorded) => {
    const typed = send(recorded, code, { place: 'code', fieldText: '' });
    expect(typed).toEqual([{ kind: 'scan', scan: { text: code, isAgain: false } }]);
  });

  test('whichever pause of up to 400 ms is among the first keys of the field for a number', () => {
    const pauses = fc.array(fc.integer({ min: 2, max: 400 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(pauses, (first) => {
        const recorded: RecordedScanner = { name: '', first, rest: [9], ends: [{ key: 'Enter', gapMs: 9 }] };
        expect(send(recorded, '8480000832431', { place: 'code', fieldText: '' })).toEqual([
          { kind: 'scan', scan: { text: '8480000832431', isAgain: false } },
        ]);
      }),
      { numRuns: rounds(300, 10_000) },
    );
  });

  test.each([
    ['12345', 45],
    ['12345', 5],
    ['00961', 58],
    ['1234567', 30],
  ])('%s with %i ms between the keys is a barcode, never a weight', (code, gapMs) => {
    const recorded: RecordedScanner = { name: '', first: [], rest: [gapMs], ends: [{ key: 'Enter', gapMs }] };
    expect(send(recorded, code, { place: 'measure', fieldText: '' })).toEqual([
      { kind: 'scan', scan: { text: code, isAgain: false } },
    ]);
  });

  test.each([
    '12.35',
    '12,35',
    '12.35 lb',
    '12.35lb',
    '5.5 kg',
    '5,5kg',
    '+  12.35 lb',
    'ST,GS,+  12.35kg',
    '00012.35',
    '120 lb',
  ])('%s from a scale is a weight', (text) => {
    const recorded: RecordedScanner = { name: '', first: [], rest: [4], ends: [{ key: 'Enter', gapMs: 4 }] };
    expect(send(recorded, text, { place: 'measure', fieldText: '' })).toEqual([
      { kind: 'weight', text, isSubmitted: true },
    ]);
  });

  test('a weight with decimals that a person has just typed stays, and the scan behind it is whole', () => {
    const scanner = createScanner(() => PLAIN);
    const typed = [...'1,5'].map((key, index) =>
      scanner.key({ key, timeMs: 1_000 + index * 90, place: 'measure', fieldText: '1,5'.slice(0, index) }),
    );
    expect(typed.map(({ action }) => action)).toEqual(['pass', 'pass', 'pass']);
    const decisions = [...'1Z999', 'Enter'].map((key, index) =>
      scanner.key({ key, timeMs: 1_270 + index * 4, place: 'measure', fieldText: '1,5' }),
    );
    expect(decisions.find(({ action }) => action === 'undo')?.from).toBe(3);
    expect(decisions.flatMap(scansIn)).toEqual([{ text: '1Z999', isAgain: false }]);
  });

  test.each([
    ['after a reload', Infinity, 'unclear'],
    ['half a second after the digit before', 500, 'unclear'],
    ['after a longer pause, in which the scanner has woken up', 1_000, 'scan'],
  ])('a digit behind a weight that stands in the field, right before a scan, %s', (_, quietMs, kind) => {
    const scanner = createScanner(() => PLAIN);
    if (quietMs !== Infinity)
      scanner.key({ key: '4', timeMs: 5_000 - quietMs, place: 'measure', fieldText: '' });
    const keys = [...'7', ...'1Z999', 'Enter'].map((key, index) => {
      const timeMs = 5_000 + (index === 0 ? 0 : 100 + index * 4);
      return scanner.key({ key, timeMs, place: 'measure', fieldText: '4' });
    });
    expect(keys.flatMap(({ reading }) => reading?.kind ?? [])).toEqual([kind]);
  });

  test('digits right before a scan belong to neither the weight nor the scan, so the person repeats both', () => {
    const scanner = createScanner(() => PLAIN);
    scanner.key({ key: '1', timeMs: 1_000, place: 'measure', fieldText: '' });
    scanner.key({ key: '2', timeMs: 1_300, place: 'measure', fieldText: '1' });
    const decisions = [...'1Z999', 'Enter'].map((key, index) =>
      scanner.key({ key, timeMs: 1_420 + index * 4, place: 'measure', fieldText: '12' }),
    );
    expect(decisions.flatMap(({ reading }) => reading ?? [])).toEqual([
      { kind: 'unclear', beside: 'weight' },
    ]);
  });
});
