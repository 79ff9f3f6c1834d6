import { seededRandom, type SeededRandom } from '../../../fixtures/demo/values/seeded-random.js';

/** A generator with what the traffic needs in addition. Equal seeds give equal sequences. */
export type LoadRandom = SeededRandom & {
  /** Returns true in `percent` of the cases, which may have one decimal. */
  isOne(percent: number): boolean;
  /** A UUID of version 7 for a row of this time. */
  id(ms: number): string;
};

const MOST = 0x7fffffff;

export function loadRandom(seed: number): LoadRandom {
  const random = seededRandom(seed);
  const hex = (digits: number) =>
    random
      .whole(0, MOST)
      .toString(16)
      .padStart(8, '0')
      .slice(8 - digits);
  return {
    ...random,
    isOne: (percent) => random.whole(1, 1_000) <= percent * 10,
    id(ms) {
      const time = Math.floor(ms).toString(16).padStart(12, '0');
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`;
    },
  };
}
