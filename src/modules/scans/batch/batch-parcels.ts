import type { UserTx } from '../../../platform/db/scope.js';
import { severalParcels } from '../../packages/public.js';
import type { AdmittedScan } from './admit-scans.js';
import { countScans, packageKeys } from './queries.js';
import { toRefusal, type Refusal } from './messages/read-scans.js';
import { separateParcels, type BatchParcel } from './related-parcels.js';

/** The most scans that a parcel stores. Parcels have about five, and each further scan folds all of them (decision 0073). */
export const MAX_SCANS = 500;

/** The scans that are folded at a time, so that a batch of full parcels fits into memory. */
const SCANS_PER_PART = 4_000;

const TOO_MANY_SCANS: Refusal = {
  reason: 'too_many_scans',
  message:
    `The parcel already has ${MAX_SCANS} scans, the most that are stored. Check the device: it may repeat scans with new ` +
    'ids. Use RecordPackageEvent.php for further events of this parcel.',
  errors: [],
};

/** Parcels whose scans are folded together. */
type Part = BatchParcel<AdmittedScan>[];

/** Scans with common keys. */
type Group = { keys: string[]; scans: AdmittedScan[] };

type Divided = {
  parts: Part[];
  /** Why scans are not stored, by their ids. */
  refused: Map<string, Refusal>;
};

/** Divides the scans of a batch by their parcels, which are locked. Refuses scans that several packages fit, or that are too many. */
export async function divideScans(tx: UserTx, scans: AdmittedScan[]): Promise<Divided> {
  const keys = [...new Set(scans.flatMap((scan) => scan.keys))];
  const [counted, packages] = await tx.query([countScans(tx, keys, MAX_SCANS), packageKeys(tx, keys)]);
  const counts = new Map(counted.map(({ parcelKey, count }) => [parcelKey, count]));
  const stored = new Set(packages.map(({ trackingKey }) => trackingKey));
  const divided: Divided = { parts: [], refused: new Map() };
  let room = 0;
  for (const group of groupByKey(scans)) {
    const { parcels, open } = separateParcels(group.scans, stored);
    for (const [id, numbers] of open) divided.refused.set(id, toRefusal(severalParcels('scan', numbers)));
    const limited = parcels.map((parcel) => limitScans(parcel, counts, divided.refused));
    const size = limited.reduce((sum, parcel) => sum + parcel.size, 0);
    if (size === 0) continue;
    // Related parcels are read together, because a scan may move what is stored of one to another.
    if (room < size) {
      divided.parts.push([]);
      room = SCANS_PER_PART;
    }
    room -= size;
    divided.parts.at(-1)?.push(...limited.filter(({ scans: own }) => own.length > 0));
  }
  return divided;
}

/** Takes the scans out of a parcel that it has no room for. */
function limitScans(
  parcel: BatchParcel<AdmittedScan>,
  counts: Map<string, number>,
  refused: Divided['refused'],
) {
  const stored = parcel.storedKeys.reduce((total, key) => total + (counts.get(key) ?? 0), 0);
  const scans = takeScans(parcel.scans, MAX_SCANS - stored, refused);
  const size = scans.length === 0 ? 0 : Math.min(stored, MAX_SCANS) + scans.length;
  return { ...parcel, scans, size };
}

/** Returns the scans that are stored already and the new ones that the parcel has room for. Adds the others to `refused`. */
function takeScans(scans: AdmittedScan[], room: number, refused: Divided['refused']): AdmittedScan[] {
  let left = Math.max(0, room);
  return scans.filter(({ id, isRepeated }) => {
    if (isRepeated) return !refused.has(id);
    if (left === 0) refused.set(id, TOO_MANY_SCANS);
    else left -= 1;
    return !refused.has(id);
  });
}

/** Groups scans: two scans with a common key are of one group. */
function groupByKey(scans: AdmittedScan[]): Group[] {
  const groups = new Map<string, Group>();
  for (const scan of scans) {
    const group: Group = { keys: [], scans: [] };
    const related = new Set(scan.keys.flatMap((key) => groups.get(key) ?? []));
    for (const other of related) {
      group.keys.push(...other.keys);
      group.scans.push(...other.scans);
    }
    group.keys = [...new Set([...group.keys, ...scan.keys])];
    group.scans.push(scan);
    for (const key of group.keys) groups.set(key, group);
  }
  return [...new Set(groups.values())];
}
