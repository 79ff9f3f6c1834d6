/** Returns a generator of numbers from 0 up to 1, the same for the same seed (xorshift). */
export function seededRandom(seed: number): () => number {
  let state = (seed * 2_654_435_761) % 4_294_967_296 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

/** A scan of a day. `parcel` and `manifest` are positions in the day's lists. */
export type DayScan = {
  station: 0 | 1;
  kind: 'receive' | 'load' | 'unload' | 'locate' | 'hold' | 'deliver';
  parcel: number;
  manifest: number;
  weight: number;
  location: string;
  /** Milliseconds after the beginning of the day, by the clock of the station. */
  timeMs: number;
};

const KINDS = ['receive', 'load', 'unload', 'locate', 'hold', 'deliver', 'load', 'receive'] as const;
const DAY_MS = 8 * 3_600_000;
const MAX_SKEW_MS = 3_600_000;

/** Makes a day of two stations whose clocks differ by up to an hour. Some scans have the same time. */
export function randomDay(random: () => number, { parcels = 4, scans = 24 } = {}): DayScan[] {
  const below = (limit: number) => Math.floor(random() * limit);
  const skews = [below(MAX_SKEW_MS), -below(MAX_SKEW_MS)];
  return Array.from({ length: scans }, (_, n) => {
    const station = below(2) === 0 ? 0 : 1;
    // Most parcels are received early, one perhaps never.
    const kind = n < parcels - 1 ? 'receive' : (KINDS[below(KINDS.length)] ?? 'locate');
    const timeMs = Math.round((below(96) / 96) * DAY_MS) + (skews[station] ?? 0);
    const place = { parcel: below(parcels), manifest: below(2), weight: 1 + below(900) / 100 };
    return { station, kind, ...place, location: `Shelf ${below(5)}`, timeMs };
  });
}

/** Returns batches of the elements in a random order. Some elements are sent several times. */
export function randomBatches<Element>(random: () => number, elements: Element[]): Element[][] {
  const sent = elements.flatMap((element) => (random() < 0.25 ? [element, element] : [element]));
  for (let n = sent.length - 1; n > 0; n -= 1) {
    const other = Math.floor(random() * (n + 1));
    // Both positions exist.
    [sent[n], sent[other]] = [sent[other] as Element, sent[n] as Element];
  }
  const batches: Element[][] = [];
  while (sent.length > 0) batches.push(sent.splice(0, 1 + Math.floor(random() * 8)));
  return batches;
}
