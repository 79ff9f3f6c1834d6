export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

/** The median of those that are known. */
export function medianOrNone(values: (number | undefined)[]): number | undefined {
  const known = values.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : median(known);
}
