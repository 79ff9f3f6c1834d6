/** Adds weights in lb in thousandths, because a sum of fractions is not exact. */
export const sumOfWeights = (weights: readonly number[]): number =>
  weights.reduce((sum, weight) => sum + Math.round(weight * 1_000), 0) / 1_000;

export const sumOfCounts = (counts: readonly number[]): number =>
  counts.reduce((sum, count) => sum + count, 0);
