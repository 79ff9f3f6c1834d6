import { groupBy } from '../../../platform/values/group-by.js';
import type { UserTx } from '../../../platform/db/scope.js';
import type { ReferencedRecords, ScannedParcel } from '../../packages/public.js';
import type { ParcelScan } from '../fold/fold.js';
import type { AdmittedScan } from './admission/admit-scans.js';
import { MAX_SCANS, selectStored, type StoredRows } from './stored/select-stored.js';
import type { BatchParcel } from './admission/related-parcels.js';
import type { EventRow, NewScan, PackageRow, PositionRow, StoredScan } from './stored/queries.js';

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

/** Parcels that are locked, with the scans that a station sends. */
export type SentParcels = {
  station: string;
  /** The time of the new scans. ISO 8601, in UTC with milliseconds. */
  arrivedAt: string;
  parcels: BatchParcel<AdmittedScan>[];
  /** What is stored of them, and maybe of others; undefined if it is not read yet. */
  rows?: StoredRows | undefined;
};

/** Returns what is stored of parcels, with their new scans. */
export async function readParcels(tx: UserTx, sent: SentParcels): Promise<StoredParcel[]> {
  const keys = sent.parcels.flatMap((parcel) => parcel.keys);
  const [packages, scans, events, positions] = sent.rows ?? (await tx.query(selectStored(tx, keys)));
  const packageOf = new Map(packages.map((row) => [row.trackingKey, row]));
  const scansOf = groupBy(scans, (row) => row.parcelKey);
  const eventsOf = groupBy(events, (row) => row.packageId);
  const positionOf = new Map(positions.map((row) => [row.parcelKey, row]));
  const { station, arrivedAt } = sent;
  const origin = { station, userId: tx.caller.userId, arrivedAt };
  return sent.parcels.map(({ keys: own, storedKeys, scans: added }) => {
    const known = own.flatMap((key) => packageOf.get(key) ?? [])[0];
    // A short number can lead to several packages. What is stored of the others is not of this parcel.
    const ownKeys = storedKeys.filter((key) => (packageOf.get(key) ?? known) === known);
    const fresh = added.filter(({ isRepeated }) => !isRepeated);
    const stored = ownKeys.flatMap((key) => scansOf.get(key) ?? []);
    return {
      keys: own,
      package: known,
      scans: [...stored.slice(0, MAX_SCANS).map(fromStored), ...fresh.map((scan) => fromSent(scan, origin))],
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

type Origin = Pick<ScanOfParcel, 'station' | 'userId' | 'arrivedAt'>;

function fromSent(sent: AdmittedScan, origin: Origin): ScanOfParcel {
  const { id, kind, scannedAt, scan, details, contentHash, manifestId, isAdmitted } = sent;
  const given = { id, kind, scannedAt, scan, details, contentHash, manifestId, isAdmitted };
  const location = details.location ?? null;
  return {
    ...given,
    ...origin,
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
