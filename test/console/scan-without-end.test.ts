import { describe, expect, test } from '@jest/globals';
import { createScanner, type Decision, type Reading } from '../../console/src/scanner/scanner.js';

const CODE = '500001005';
const GAP_MS = 4;

/** A scanner without an end key, at a station whose other scanner sends Enter, so that the page waits for Enter. */
function scanWithoutEnd() {
  const scanner = createScanner(() => ({ prefix: '', suffix: '' }));
  const send = (keys: string[], startMs: number) =>
    keys.map((key, index) => scanner.key({ key, timeMs: startMs + index * GAP_MS }));
  send([...'ABCDE', 'Enter'], 0);
  send([...CODE], 5_000);
  return { scanner, lastMs: 5_000 + (CODE.length - 1) * GAP_MS };
}

const readingsIn = ({ before, reading }: Decision): Reading[] =>
  [before?.reading, reading].flatMap((each) => each ?? []);

const SCAN = { kind: 'scan', scan: { text: CODE, isAgain: false } };

describe('a scan without an end key is complete', () => {
  test('when a person presses Enter in a field for a text, which gets the key', () => {
    const { scanner, lastMs } = scanWithoutEnd();
    const decision = scanner.key({ key: 'Enter', timeMs: lastMs + 700, place: 'text', fieldText: 'secret' });
    expect(decision.action).toBe('pass');
    expect(readingsIn(decision)).toEqual([SCAN]);
  });

  test('when a person types into a field for a text', () => {
    const { scanner, lastMs } = scanWithoutEnd();
    const decision = scanner.key({ key: 'd', timeMs: lastMs + 700, place: 'text', fieldText: '' });
    expect(decision).toMatchObject({ action: 'pass', begins: true });
    expect(readingsIn(decision)).toEqual([SCAN]);
  });

  test.each([
    ['Alt and a digit', { key: '3', hasControl: true }],
    ['a function key', { key: 'F2' }],
    ['Escape', { key: 'Escape' }],
    ['Backspace', { key: 'Backspace' }],
  ])('when a person presses %s', (_, key) => {
    const { scanner, lastMs } = scanWithoutEnd();
    const decision = scanner.key({ ...key, timeMs: lastMs + 400 });
    expect(decision.action).toBe('pass');
    expect(readingsIn(decision)).toEqual([SCAN]);
    expect(scanner.pause(lastMs + 10_000)).toBeUndefined();
  });

  test('when a person clicks, or the page is closed', () => {
    const { scanner, lastMs } = scanWithoutEnd();
    expect(scanner.interrupt(lastMs + 400)?.reading).toEqual(SCAN);
    expect(scanner.interrupt(lastMs + 500)).toBeUndefined();
  });
});

describe('a scan goes on', () => {
  test('after a click during a pause of the scanner', () => {
    const { scanner, lastMs } = scanWithoutEnd();
    expect(scanner.interrupt(lastMs + 200)).toBeUndefined();
  });

  test('after a shortcut during a pause of the scanner', () => {
    const { scanner, lastMs } = scanWithoutEnd();
    expect(readingsIn(scanner.key({ key: 'F2', timeMs: lastMs + 200 }))).toEqual([]);
    const end = scanner.key({ key: 'Enter', timeMs: lastMs + 250 });
    expect(readingsIn(end)).toEqual([SCAN]);
  });

  test('after Shift, which scanners send with capital letters', () => {
    const { scanner, lastMs } = scanWithoutEnd();
    expect(readingsIn(scanner.key({ key: 'Shift', timeMs: lastMs + 900 }))).toEqual([]);
  });
});

describe('a weight that a person types while the page still waits for the end key', () => {
  const typeAfter = (text: string, gapMs: number): Reading[] => {
    const { scanner, lastMs } = scanWithoutEnd();
    return [...text, 'Enter'].flatMap((key, index) =>
      readingsIn(scanner.key({ key, timeMs: lastMs + 700 + index * gapMs, place: 'measure', fieldText: '' })),
    );
  };

  test.each(['3', '12', '3.5', '12,35'])('%s is not a part of the number: nothing is taken', (text) =>
    expect(typeAfter(text, 90)).toEqual([{ kind: 'unclear', beside: 'weight' }]),
  );

  test('fast digits after a pause are the rest of the scan', () =>
    expect(typeAfter('1235', GAP_MS)).toEqual([
      { kind: 'scan', scan: { text: `${CODE}1235`, isAgain: false } },
    ]));
});

describe('a number that a person types while the page still waits for the end key', () => {
  const typeAfter = (text: string, gapsMs: number[]) => {
    const { scanner, lastMs } = scanWithoutEnd();
    let timeMs = lastMs + 710;
    return [...text, 'Enter'].flatMap((key, index) => {
      timeMs += gapsMs[index % gapsMs.length] ?? 0;
      return readingsIn(scanner.key({ key, timeMs, place: 'code', fieldText: '' }));
    });
  };

  test.each([[[90]], [[61, 140, 95]]])(
    'with gaps of %j ms is not joined to the scan: nothing is taken',
    (gapsMs) => expect(typeAfter('T05005302X', gapsMs)).toEqual([{ kind: 'unclear', beside: 'scan' }]),
  );

  test.each([[[45]], [[14, 11, 22, 90]], [[0, 0, 0, 130]]])(
    'with gaps of %j ms is the rest of a scan',
    (gapsMs) =>
      expect(typeAfter('T05005302X', gapsMs)).toEqual([
        { kind: 'scan', scan: { text: `${CODE}T05005302X`, isAgain: false } },
      ]),
  );
});

describe('two scans without an end key while the page still waits for one', () => {
  const next = (scanner: ReturnType<typeof scanWithoutEnd>['scanner'], text: string, startMs: number) =>
    [...text].flatMap((key, index) => readingsIn(scanner.key({ key, timeMs: startMs + index * GAP_MS })));
  const UNCLEAR = { kind: 'unclear', beside: 'scan' };

  test('are not joined to one number, whether a pause ends them or Enter of a person', () => {
    const paused = scanWithoutEnd();
    expect(next(paused.scanner, 'T00107602X', paused.lastMs + 1_100)).toEqual([]);
    expect(paused.scanner.pause(paused.lastMs + 9_000)?.reading).toEqual(UNCLEAR);

    const entered = scanWithoutEnd();
    next(entered.scanner, 'T00107602X', entered.lastMs + 1_100);
    const timeMs = entered.lastMs + 1_136 + 700;
    expect(readingsIn(entered.scanner.key({ key: 'Enter', timeMs, place: 'measure' }))).toEqual([UNCLEAR]);
  });

  test('are two scans from then on', () => {
    const { scanner, lastMs } = scanWithoutEnd();
    next(scanner, 'T00107602X', lastMs + 1_100);
    scanner.pause(lastMs + 9_000);
    const texts = [
      ...next(scanner, 'T00107603X', lastMs + 10_000),
      ...next(scanner, 'T00107604X', lastMs + 11_100),
    ].flatMap((reading) => (reading.kind === 'scan' ? [reading.scan.text] : [reading.kind]));
    expect(texts).toEqual(['T00107603X']);
    expect(scanner.pause(lastMs + 12_000)?.reading).toMatchObject({ scan: { text: 'T00107604X' } });
  });
});

describe('a digit that no field takes, because a page is still opening', () => {
  test.each([
    [200, 'scan'],
    [300, 'unclear'],
    [900, 'unclear'],
  ])('%d ms before a scan', (gapMs, kind) => {
    const scanner = createScanner(() => ({ prefix: '', suffix: '' }));
    const keys = [...'4', ...'1Z999', 'Enter'].map((key, index) =>
      scanner.key({ key, timeMs: 5_000 + (index === 0 ? 0 : gapMs + index * GAP_MS), place: 'none' }),
    );
    expect(keys.flatMap(({ reading }) => reading?.kind ?? [])).toEqual([kind]);
  });
});
