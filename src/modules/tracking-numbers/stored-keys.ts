import { readScan } from './read-scan.js';

/** The number of a stored row. */
export type StoredNumber = { trackingKey: string; trackingNumber: string | null };

/**
 * Returns all keys under which other rows of the parcel can be stored, the row's own first. A pre-alert of a label and a package of
 * the number inside it have different keys.
 */
export function keysOfStored({ trackingKey, trackingNumber }: StoredNumber): [string, ...string[]] {
  const [number, another] = readScan(trackingNumber ?? '').numbers;
  const keys = number && !another ? number.keys : [];
  return [trackingKey, ...keys.filter((key) => key !== trackingKey)];
}
