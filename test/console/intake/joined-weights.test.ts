import { describe, expect, test } from '@jest/globals';
import { createScanner, type Reading } from '../../../console/src/scanner/scanner.js';

// A digit that a person typed by accident, and the weight of the scale behind it. A wrong weight is never taken without a question.

type Part = { text: string; gapMs: number; pauseMs?: number };

/** Sends keys to the field of the weight, each part after its pause, and Enter. Returns what was read. */
function readingsOf(...parts: Part[]): Reading[] {
  const scanner = createScanner(() => ({ prefix: '', suffix: '' }));
  const readings: Reading[] = [];
  let timeMs = 10_000;
  let fieldText = '';
  const press = (key: string, gapMs: number) => {
    timeMs += gapMs;
    const decision = scanner.key({ key, timeMs, place: 'measure', fieldText });
    readings.push(...[decision.before?.reading, decision.reading].filter((reading) => reading !== undefined));
    if (decision.action === 'pass' && key.length === 1) fieldText += key;
  };
  for (const { text, gapMs, pauseMs = gapMs } of parts)
    for (const [index, key] of [...text].entries()) press(key, index === 0 ? pauseMs : gapMs);
  press('Enter', parts.at(-1)?.gapMs ?? 0);
  return readings;
}

const weight = (text: string) => [{ kind: 'weight', text, isSubmitted: true }];
const unclear = [{ kind: 'unclear', beside: 'scale' }];
const stray: Part = { text: '1', gapMs: 0 };

describe('a stray digit before the weight of a scale', () => {
  test.each([
    ['a fast scale, seconds later', { text: '6.9 lb', gapMs: 4, pauseMs: 2_500 }],
    ['a slow scale, seconds later', { text: '6,9 kg', gapMs: 80, pauseMs: 2_500 }],
    ['the slowest scale, seconds later', { text: '6,9 kg', gapMs: 120, pauseMs: 2_500 }],
  ])('is replaced by %s', (_title, scale) => {
    expect(readingsOf(stray, scale)).toEqual(weight(scale.text));
  });

  test.each([
    ['a fast scale at once', { text: '6.9 lb', gapMs: 4, pauseMs: 90 }],
    ['a fast scale, soon', { text: '6.9 lb', gapMs: 4, pauseMs: 300 }],
    ['a slow scale at once', { text: '6,9 kg', gapMs: 80, pauseMs: 200 }],
    ['a slow scale, soon', { text: '6,9 kg', gapMs: 80, pauseMs: 500 }],
  ])('makes the weight of %s unclear, because a scale may pause after its first key', (_title, scale) => {
    expect(readingsOf(stray, scale)).toEqual(unclear);
  });
});

describe('a weight with its unit', () => {
  test.each([
    ['of a scale that sends steadily', [{ text: '16.9 lb', gapMs: 30 }]],
    ['of a scale that marks it', [{ text: 'ST,GS,+  12.35kg', gapMs: 4 }]],
  ])('%s is taken whole', (_title, parts) => {
    expect(readingsOf(...parts)).toEqual(weight(parts.map(({ text }) => text).join('')));
  });

  test.each([
    ['slowly', [{ text: '16.9 kg', gapMs: 180 }]],
    [
      'with pauses',
      [
        { text: '16', gapMs: 120 },
        { text: '.9 kg', gapMs: 120, pauseMs: 900 },
      ],
    ],
    ['without its unit', [stray, { text: '6.9', gapMs: 110, pauseMs: 900 }]],
  ])('that a person types %s stays in the field as it is', (_title, parts) => {
    expect(readingsOf(...parts)).toEqual([]);
  });
});

/** The pounds that a text says. */
const pounds = (text: string) => Number(/\d+\.\d+/.exec(text)?.[0]);

test('a weight that a fast scale interrupts once is taken whole, or not at all', () => {
  const wrong: unknown[] = [];
  for (const text of ['12.35 lb', '3.25 lb', '0.85 lb', '12.35lb', '35.25 oz', 'ST,GS,+12.35kg', '112.5 lb'])
    for (let at = 1; at < text.length; at += 1)
      for (const baseMs of [4, 8, 20])
        for (const pauseMs of [36, 48, 60, 61, 90, 160, 249, 251, 400, 690]) {
          const readings = readingsOf(
            { text: text.slice(0, at), gapMs: baseMs },
            { text: text.slice(at), gapMs: baseMs, pauseMs },
          );
          // What was read last is what is in the field.
          const last = readings.at(-1);
          const isCut = last?.kind === 'weight' && pounds(last.text) !== pounds(text);
          if (isCut) wrong.push([text, at, baseMs, pauseMs, readings]);
        }
  expect(wrong).toEqual([]);
});
