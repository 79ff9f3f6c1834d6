// Our own, because the values of a library for fake data change between versions, and the demo data must not.
export type SeededRandom = {
  /** Returns an integer from the range, including both bounds. */
  whole(minimum: number, maximum: number): number;
  pick<T>(list: readonly T[]): T;
  digits(count: number): string;
};

/** Returns a pseudo-random generator (mulberry32). Equal seeds give equal sequences. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed | 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (minimum: number, maximum: number) =>
    minimum + Math.floor(fraction() * (maximum - minimum + 1));
  return {
    whole,
    pick: (list) => cycle(list, whole(0, list.length - 1)),
    digits: (count) => Array.from({ length: count }, () => whole(0, 9)).join(''),
  };
}

/** Returns the item at `index` modulo the length of the list. */
export function cycle<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('The list is empty.');
  return item;
}
