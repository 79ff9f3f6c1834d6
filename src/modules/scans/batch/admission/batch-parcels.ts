import { groupRelated } from '../../../../platform/values/group-related.js';
import { severalParcels } from '../../../packages/public.js';
import type { AdmittedScan } from './admit-scans.js';
import type { LockedScans } from './lock-scans.js';
import { toRefusal, type Refusal } from '../messages/read-scans.js';
import { separateParcels, type BatchParcel } from './related-parcels.js';
import { MAX_SCANS, SCANS_PER_PART } from '../stored/select-stored.js';

const TOO_MANY_SCANS: Refusal = {
  reason: 'too_many_scans',
  message:
    `The parcel already has ${MAX_SCANS} scans, the most that are stored. Check the device: it may repeat scans with new ` +
    'ids. Use RecordPackageEvent.php for further events of this parcel.',
  errors: [],
};

/** Parcels whose scans are folded together. */
type Part = BatchParcel<AdmittedScan>[];

type Divided = {
  parts: Part[];
  /** Why scans are not stored, by their ids. */
  refused: Map<string, Refusal>;
};

/** Divides the scans of a batch by their parcels, which are locked. Refuses scans that several packages fit, or that are too many. */
export function divideScans(
  scans: AdmittedScan[],
  { counts, packageKeys }: Pick<LockedScans, 'counts' | 'packageKeys'>,
): Divided {
  const divided: Divided = { parts: [], refused: new Map() };
  let room = 0;
  for (const related of groupRelated(scans, (scan) => scan.keys)) {
    const { parcels, open } = separateParcels(related, packageKeys);
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
