import type { UserTx } from '../../../platform/db/scope.js';
import type { AdmittedScan } from './admit-scans.js';
import { countScans } from './queries.js';
import type { ReadScan, Refusal } from './read-scans.js';

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

/** The most scans that a parcel stores. Parcels have about five, and each further scan folds all of them (decision 0073). */
export const MAX_SCANS = 500;

/** The scans that are folded at a time, so that a batch of full parcels fits into memory. */
const SCANS_PER_PART = 4_000;

export const TOO_MANY_SCANS: Refusal = {
  reason: 'too_many_scans',
  message:
    `The parcel already has ${MAX_SCANS} scans, the most that are stored. Check the device: it may repeat scans with new ` +
    'ids. Use RecordPackageEvent.php for further events of this parcel.',
  errors: [],
};

/** Parcels whose scans are folded together. */
type Part = BatchParcel<AdmittedScan>[];

export type Limited = {
  parts: Part[];
  /** The ids of the scans that are one too many for their parcel. */
  refused: Set<string>;
};

/** Takes the scans that parcels have no room for out of a batch, and divides the rest. The parcels are locked. */
export async function limitScans(tx: UserTx, parcels: BatchParcel<AdmittedScan>[]): Promise<Limited> {
  const keys = [...new Set(parcels.flatMap((parcel) => parcel.keys))];
  const counts = new Map(
    (await tx.query(countScans(tx, keys, MAX_SCANS))).map(({ parcelKey, count }) => [parcelKey, count]),
  );
  const limited: Limited = { parts: [], refused: new Set() };
  let room = 0;
  for (const parcel of parcels) {
    const stored = parcel.keys.reduce((total, key) => total + (counts.get(key) ?? 0), 0);
    const scans = takeScans(parcel.scans, MAX_SCANS - stored, limited.refused);
    if (scans.length === 0) continue;
    const size = Math.min(stored, MAX_SCANS) + scans.length;
    if (room < size) {
      limited.parts.push([]);
      room = SCANS_PER_PART;
    }
    room -= size;
    limited.parts.at(-1)?.push({ keys: parcel.keys, scans });
  }
  return limited;
}

/** Returns the scans that are stored already and the new ones that the parcel has room for. Adds the others to `refused`. */
function takeScans(scans: AdmittedScan[], room: number, refused: Set<string>): AdmittedScan[] {
  let left = Math.max(0, room);
  return scans.filter(({ id, isRepeated }) => {
    if (isRepeated) return !refused.has(id);
    if (left === 0) refused.add(id);
    else left -= 1;
    return !refused.has(id);
  });
}
