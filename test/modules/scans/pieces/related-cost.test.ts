import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { separateParcels } from '../../../../src/modules/scans/batch/admission/related-parcels.js';
import { groupRelated } from '../../../../src/platform/values/group-related.js';

// The scans of a batch are divided in a time that grows with their number, also if all are spellings of one number.

type Scan = { id: string; keys: string[]; kind: 'locate'; isRepeated: boolean; scannedAt: string };

/** Scans with spellings of their own: of one number, or each of its own number. */
const spellings = (count: number, numberOf: (n: number) => string): Scan[] =>
  Array.from({ length: count }, (_, n) => ({
    id: randomUUID(),
    keys: [numberOf(n), `44${numberOf(n)}`, ...Array.from({ length: 4 }, (__, at) => `${n} ${at}`)],
    kind: 'locate',
    isRepeated: false,
    scannedAt: new Date(1e12 + n).toISOString(),
  }));

function cpuMs(run: () => unknown): number {
  const times: number[] = [];
  for (let turn = 0; turn < 7; turn += 1) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  return Math.min(...times);
}

test.each([
  ['grouping', (scans: Scan[]) => groupRelated(scans, ({ keys }) => keys)],
  ['separating', (scans: Scan[]) => separateParcels(scans, new Set())],
])('%s 8,000 spellings of one number takes less than twice as long as of 8,000 numbers', (_name, divide) => {
  const one = spellings(8_000, () => '794644790132');
  const many = spellings(8_000, (n) => String(794_644_790_132 + n));
  divide(one);
  divide(many);
  // Copying all keys for each scan takes hundreds of times as long. Both have as much memory, so full caches slow both.
  expect(cpuMs(() => divide(one)) / cpuMs(() => divide(many))).toBeLessThan(2);
});

test('groups are joined by an item that has keys of both, and keep all items', () => {
  const items = ['a', 'b', 'c d', 'd e', 'x', 'b c', 'x y', 'z'];
  const groups = groupRelated(items, (item) => item.split(' '));
  expect(groups.map((group) => group.toSorted().join()).toSorted()).toEqual([
    'a',
    'b,b c,c d,d e',
    'x,x y',
    'z',
  ]);
});
