/** `npm run test:long` repeats races, seeds and rounds more often than the default run has time for. */
const isLong = process.env['TEST_LONG'] === '1';

/** Returns a number of repetitions: `gate` in a default run, `long` in `npm run test:long`. */
export const rounds = (gate: number, long: number): number => (isLong ? long : gate);

/** Chosen per run (scripts/test.mjs), so that the samples of many runs contain every item. */
const seed = Number(process.env['TEST_SEED'] ?? 0);

/**
 * Returns all items in `npm run test:long`. In a default run returns `count` of them, at equal distances from each other, which depend on
 * the seed of the run. `TEST_SEED=n npm test` chooses those of an earlier run again.
 */
export function sample<Item>(items: readonly Item[], count: number, from = seed): Item[] {
  const { length } = items;
  if (isLong || count >= length) return [...items];
  const chosen = Array.from({ length: count }, (_, n) => Math.floor(((from % length) + n * length) / count));
  return items.filter((_, index) => chosen.includes(index));
}

/**
 * Returns all items in `npm run test:long`. In a default run returns one share of `of`, the same number of items in each. The shares 0 to
 * `of` - 1 of a run contain every item once, and which share an item is in depends on the seed of the run.
 */
export const share = <Item>(items: readonly Item[], index: number, of: number, from = seed): Item[] =>
  isLong ? [...items] : items.filter((_, n) => (n + from) % of === index);
