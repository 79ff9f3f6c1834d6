import { describe, expect, test } from '@jest/globals';
import { createScanner, type Decision } from '../../../console/src/scanner/scanner.js';
import { keysOf, RECORDED_SCANNERS, type RecordedScanner } from '../../support/console/recorded-scanners.js';

// A person types a part of a weight, does something else, types the rest and scans the next parcel. The console stores the weight that was typed
// and the number that was scanned, or asks for both again.

type Act = 'click' | 'Escape' | 'F1' | 'reload' | 'nothing';
type Typed = { weight: string; cut: number; act: Act; actMs: number; pauseMs: number; isElsewhere?: boolean };

const PERSON_MS = 95;

/** Returns what the field contains at the end and what was read, as the page handles the decisions of the scanner. */
function play(recorded: RecordedScanner, code: string, typed: Typed) {
  const { weight, cut, act, actMs, pauseMs, isElsewhere = false } = typed;
  const { prefix = '', suffix = '' } = recorded;
  const open = () => createScanner(() => ({ prefix, suffix }));
  let scanner = open();
  let timeMs = 10_000;
  let field = '';
  // What the field for a customer contains, if the act moves the focus there.
  let other = '';
  let isInOther = false;
  let before: string[] = [];
  const readings: string[] = [];
  const apply = (decision: Decision) => {
    if (decision.action === 'undo' && !isInOther) field = before[decision.from ?? 0] ?? field;
    const { reading } = decision;
    if (reading) readings.push(reading.kind === 'scan' ? reading.scan.text : reading.kind);
  };
  const press = (key: string, gapMs: number) => {
    timeMs += gapMs;
    const decision = scanner.key({
      key,
      timeMs,
      place: isInOther ? 'text' : 'measure',
      fieldText: isInOther ? other : field,
    });
    if (decision.before) apply(decision.before);
    if (decision.begins) before = [];
    if (decision.action === 'pass' && key.length === 1) {
      before.push(isInOther ? other : field);
      if (isInOther) other += key;
      else field += key;
    }
    apply(decision);
  };
  // The scanner of this station has been used.
  keysOf(recorded, 'TD00000001').forEach(({ key, gapMs }) => press(key, gapMs));
  const last = scanner.pause(timeMs + scanner.pauseMs());
  if (last) apply(last);
  timeMs += 5_000;
  readings.splice(0);
  field = '';

  for (const [index, key] of [...weight].entries()) {
    if (index !== cut || cut === 0) press(key, PERSON_MS);
    else {
      timeMs += actMs / 2;
      if (act === 'click') scanner.interrupt(timeMs);
      else if (act === 'reload') scanner = open();
      else if (act !== 'nothing') press(act, 0);
      isInOther = isElsewhere;
      press(key, actMs / 2);
    }
  }
  keysOf(recorded, code).forEach(({ key, gapMs }, index) => press(key, index === 0 ? pauseMs : gapMs));
  const end = scanner.pause(timeMs + scanner.pauseMs());
  if (end) apply(end);
  return { field, readings };
}

const CODES = ['500032404', 'T00032402X', 'TD00032401'];

/** Also the whole weight at once. Whole numbers right before a scan may be its first keys (decision 0079). */
const decimalsOnly = (weight: string): number[] => (/[.,]/.test(weight) ? [0] : []);

/** Returns the cases with another weight or number than those of the person. */
function wrongOnes(weights: string[], typed: Omit<Typed, 'weight' | 'cut'>): string[] {
  return RECORDED_SCANNERS.flatMap((recorded) =>
    CODES.flatMap((code) =>
      weights.flatMap((weight) =>
        Array.from(weight, (_, cut) => cut)
          .slice(1)
          .concat(decimalsOnly(weight))
          .flatMap((cut) => {
            const { field, readings } = play(recorded, code, { ...typed, weight, cut });
            const isRight = field === weight && readings.join() === code;
            // A slow scanner is not noticed behind digits. The page then has all of it in the field, and refuses it as a weight.
            const isInField = readings.length === 0 && field.startsWith(weight) && field.endsWith(code);
            const isUnclear = readings.length === 1 && readings[0] === 'unclear';
            return isRight || isUnclear || isInField
              ? []
              : [`${recorded.name}: ${weight} in parts of ${cut}, ${code}: ${field} and ${readings.join()}`];
          }),
      ),
    ),
  );
}

const DECIMALS = ['0.2', '1.5', '2,25', '21.1', '12.35', '149.999', '.', '.5'];
const WHOLE = ['47', '325'];

describe('a weight that a person types in two parts', () => {
  test.each<[Act, number, number]>([
    ['click', 600, 120],
    ['click', 600, 400],
    ['click', 1_500, 120],
    ['click', 200, 120],
    ['Escape', 600, 120],
    ['Escape', 3_000, 400],
    ['F1', 1_500, 120],
    ['F1', 1_500, 200],
    ['reload', 2_000, 120],
    ['reload', 2_000, 400],
    ['nothing', 300, 120],
  ])(
    'with %s between them for %i ms, %i ms before the scan, is never another weight',
    (act, actMs, pauseMs) => {
      expect(wrongOnes(DECIMALS, { act, actMs, pauseMs })).toEqual([]);
    },
  );

  test.each<[Act, number, number]>([
    ['click', 1_500, 120],
    ['click', 600, 400],
    ['Escape', 1_500, 200],
    ['F1', 3_000, 120],
    ['reload', 2_000, 120],
  ])('without decimals, with %s between them for %i ms, %i ms before the scan', (act, actMs, pauseMs) => {
    expect(wrongOnes(WHOLE, { act, actMs, pauseMs })).toEqual([]);
  });

  test('whose second part a click has moved to another field is unclear, with the scan right behind it', () => {
    const outcomes = RECORDED_SCANNERS.flatMap((recorded) =>
      CODES.flatMap((code) =>
        [...DECIMALS, ...WHOLE]
          .filter(({ length }) => length > 1)
          .map((weight) => {
            const typed: Typed = {
              weight,
              cut: 1,
              act: 'click',
              actMs: 600,
              pauseMs: 120,
              isElsewhere: true,
            };
            return `${recorded.name}, ${weight}, ${code}: ${play(recorded, code, typed).readings.join()}`;
          }),
      ),
    );
    // A slow scanner is not noticed behind other keys in a field for a text.
    expect(outcomes.filter((each) => !/: (unclear)?$/.test(each))).toEqual([]);
    expect(outcomes.filter((each) => each.endsWith('unclear')).length).toBeGreaterThan(outcomes.length / 2);
  });

  test('with a click between them is taken with the scan behind it', () => {
    const [usb] = RECORDED_SCANNERS;
    if (!usb) throw new Error('There is one.');
    const typed: Typed = { weight: '0.2', cut: 1, act: 'click', actMs: 600, pauseMs: 120 };
    expect(play(usb, '500032404', typed)).toEqual({ field: '0.2', readings: ['500032404'] });
  });
});
