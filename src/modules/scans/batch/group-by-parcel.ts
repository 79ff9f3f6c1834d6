import type { ReadScan } from './read-scans.js';

/** A parcel of a batch: its keys, the one that its rows have first, and its new scans. */
export type BatchParcel<Scan> = { keys: string[]; scans: Scan[] };

/** Groups scans into parcels: two scans with a common key are of one parcel. */
export function groupByParcel<Scan extends Pick<ReadScan, 'keys'>>(scans: Scan[]): BatchParcel<Scan>[] {
  const parcels = new Map<string, BatchParcel<Scan>>();
  for (const scan of scans) {
    const parcel: BatchParcel<Scan> = { keys: [], scans: [] };
    const related = new Set(scan.keys.flatMap((key) => parcels.get(key) ?? []));
    for (const other of related) {
      parcel.keys.push(...other.keys);
      parcel.scans.push(...other.scans);
    }
    parcel.keys = [...new Set([...parcel.keys, ...scan.keys])];
    parcel.scans.push(scan);
    for (const key of parcel.keys) parcels.set(key, parcel);
  }
  return [...new Set(parcels.values())];
}
