import { groupBy } from '../../../platform/values/group-by.js';
import type { UserTx } from '../../../platform/db/scope.js';
import type { ReferencedRecords, ScannedParcel } from '../../packages/public.js';
import type { ParcelScan } from '../fold/fold.js';
import type { AdmittedScan } from './admit-scans.js';
import { MAX_SCANS } from './batch-parcels.js';
import type { BatchParcel } from './related-parcels.js';
import * as queries from './queries.js';
import type { EventRow, NewScan, PackageRow, PositionRow, StoredScan } from './queries.js';

/** The changes of the status that are folded. The status before them counts from the beginning. */
export const MAX_EVENTS = 500;

/** A scan that is stored, or a new one. */
export type ScanOfParcel = Omit<NewScan, 'outcome'> &
  Pick<ParcelScan, 'outcome' | 'location'> & {
    /** The parcel of a new scan of a tracking number. */
    parcel: ScannedParcel | undefined;
    /** The keys that a new scan names. */
    keys: string[];
    /** What a new receive scan refers to. */
    references: ReferencedRecords | undefined;
  };

/** What is stored of a parcel, with its new scans. */
export type StoredParcel = {
  keys: string[];
  package: PackageRow | undefined;
  scans: ScanOfParcel[];
  /** Whether more scans are stored than are folded: then the place and the load stay as they are stored. */
  isTruncated: boolean;
  events: EventRow[];
  positions: PositionRow[];
};

/** Reads what is stored of parcels. Locks their packages before it reads the events of the packages. */
export async function readParcels(
  tx: UserTx,
  station: string,
  parcels: BatchParcel<AdmittedScan>[],
): Promise<StoredParcel[]> {
  const keys = parcels.flatMap((parcel) => parcel.keys);
  const [packages, scans, events, positions, [time]] = await tx.query([
    queries.lockedPackages(tx, keys),
    // One more, to detect that there are more.
    queries.scansOfParcels(tx, keys, MAX_SCANS + 1),
    queries.statusEvents(tx, keys, MAX_EVENTS),
    queries.positionsOfParcels(tx, keys),
    queries.serverTime(),
  ]);
  const packageOf = new Map(packages.map((row) => [row.trackingKey, row]));
  const scansOf = groupBy(scans, (row) => row.parcelKey);
  const eventsOf = groupBy(events, (row) => row.packageId);
  const positionOf = new Map(positions.map((row) => [row.parcelKey, row]));
  return parcels.map(({ keys: own, storedKeys, scans: sent }) => {
    const known = own.flatMap((key) => packageOf.get(key) ?? [])[0];
    // A short number can lead to several packages. What is stored of the others is not of this parcel.
    const ownKeys = storedKeys.filter((key) => (packageOf.get(key) ?? known) === known);
    const fresh = sent.filter(({ isRepeated }) => !isRepeated);
    const stored = ownKeys.flatMap((key) => scansOf.get(key) ?? []);
    return {
      keys: own,
      package: known,
      scans: [
        ...stored.slice(0, MAX_SCANS).map(fromStored),
        ...fresh.map((scan) => fromSent(scan, station, time?.now ?? '')),
      ],
      isTruncated: stored.length > MAX_SCANS,
      events: known ? (eventsOf.get(known.id) ?? []) : [],
      positions: ownKeys.flatMap((key) => positionOf.get(key) ?? []),
    };
  });
}

const fromStored = (row: StoredScan): ScanOfParcel => ({
  ...row,
  contentHash: '',
  parcel: undefined,
  keys: [],
  references: undefined,
  location: row.details.location ?? null,
});

function fromSent(sent: AdmittedScan, station: string, arrivedAt: string): ScanOfParcel {
  const { id, kind, scannedAt, scan, details, contentHash, manifestId, isAdmitted } = sent;
  const given = { id, kind, scannedAt, scan, details, contentHash, manifestId, isAdmitted };
  const location = details.location ?? null;
  return {
    ...given,
    station,
    arrivedAt,
    location,
    parcel: parcelOf(sent),
    keys: sent.keys,
    references: sent.references,
    parcelKey: '',
    eventId: null,
    outcome: null,
    reason: null,
  };
}

function parcelOf({ number, keys: [key, ...others], isLabel }: AdmittedScan): ScannedParcel | undefined {
  if (key === undefined || isLabel) return undefined;
  return { trackingNumber: number, keys: [key, ...others], labelled: null };
}
