import { describe, expect, test } from '@jest/globals';
import { namedParcels } from '../../../src/platform/http/calls/named-parcels.js';

// Texts that a request names are read after its response, outside of all limits.

const KIND = 'prealert_lines';
const many = (count: number, textOf: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => textOf(n));
const read = (body: unknown, isRefused = false) =>
  namedParcels({ query: {}, body }, { kind: KIND, isRefused });
const lines = (texts: string[]) => texts.map((TrackingNumber) => ({ TrackingNumber }));

describe('what a request may be found by', () => {
  test('each number of a batch, once', () => {
    const numbers = many(1_000, (n) => `1Z${n}`);
    expect(read(lines(numbers))).toEqual(numbers);
    expect(read(lines(many(1_000, () => '1')))).toEqual(['1']);
  });

  test('ten numbers of a refused request', () => {
    expect(read(lines(many(1_000, (n) => `1Z${n}`)), true)).toHaveLength(10);
  });

  test('ten texts that are not ASCII', () => {
    const texts = many(500, (n) => `\ufdfa${n}`);
    expect(read(lines([...texts, '1Z1']))).toEqual([...texts.slice(0, 10), '1Z1']);
  });

  test('an id only if it is one', () => {
    const id = '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0e01';
    expect(read({ package_ids: ['1Z1', id, 7, null], package_id: 'x'.repeat(50), prealert_id: id })).toEqual([
      id,
    ]);
  });
});
