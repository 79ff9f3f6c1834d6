import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { separateParcels } from '../../../../src/modules/scans/batch/admission/related-parcels.js';
import { groupRelated } from '../../../../src/platform/values/group-related.js';

// The scans of a batch are divided in a time that grows with their number, also if all are spellings of one number.

type Scan = { id: string; keys: string[]; kind: 'locate'; isRepeated: boolean; scannedAt: string };

/** Scans of one number, each with spellings of its own. */
const spellings = (count: number): Scan[] =>
  Array.from({ length: count }, (_, n) => ({
    id: randomUUID(),
    keys: ['794644790132', '44794644790132', ...Array.from({ length: 4 }, (__, at) => `${n} ${at}`)],
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
])('%s eight times as many spellings of one number takes less than 40 times as long', (_name, divide) => {
  const [few, many] = [spellings(1_000), spellings(8_000)];
  divide(few);
  // Copying all keys for each scan takes 64 times as long. Beside other programs, which fill the caches, a linear one has taken 26 times.
  expect(cpuMs(() => divide(many)) / cpuMs(() => divide(few))).toBeLessThan(40);
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
