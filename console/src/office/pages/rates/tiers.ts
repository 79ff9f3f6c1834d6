/** A tier as a person typed it. `id` is that of a stored one. */
export type TypedTier = { key: string; id?: number; start: string; end: string; fee: string };

type Tier = { id?: number; startweight: number; endweight: number; fee: number };

/** Returns the tiers as numbers, or which row is wrong, counted from 1. People write a decimal point or comma. */
export function readTiers(rows: TypedTier[]): { tiers: Tier[] } | { wrong: number } {
  const tiers: Tier[] = [];
  for (const [index, { id, start, end, fee }] of rows.entries()) {
    const [startweight, endweight, amount] = [start, end, fee].map(readNumber);
    if (
      startweight === undefined ||
      endweight === undefined ||
      amount === undefined ||
      endweight <= startweight
    )
      return { wrong: index + 1 };
    tiers.push({ ...(id === undefined ? {} : { id }), startweight, endweight, fee: amount });
  }
  return { tiers };
}

const readNumber = (text: string): number | undefined =>
  /^\d+([.,]\d{1,3})?$/.test(text.trim()) ? Number(text.trim().replace(',', '.')) : undefined;

/** Returns the weights in lb between two tiers, which have no fee. */
export function gapsOf(tiers: Tier[]): { from: number; to: number }[] {
  const sorted = tiers.toSorted((a, b) => a.startweight - b.startweight);
  return sorted.flatMap(({ startweight }, index) => {
    const from = index === 0 ? 0 : (sorted[index - 1]?.endweight ?? 0);
    return startweight > from ? [{ from, to: startweight }] : [];
  });
}
