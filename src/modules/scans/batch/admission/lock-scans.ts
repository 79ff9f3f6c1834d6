import { groupBy } from '../../../../platform/values/group-by.js';
import type { UserTx } from '../../../../platform/db/scope.js';
import { findReferences } from '../../../packages/public.js';
import { lockedManifests, type KnownScan, type ManifestRow } from '../stored/queries.js';
import {
  countStored,
  MAX_SCANS,
  SCANS_PER_PART,
  selectStored,
  type StoredCounts,
  type StoredRows,
} from '../stored/select-stored.js';
import { checkReferences, intakesOf, type CheckedReferences } from './check-references.js';
import { identifyScans, selectRecords, type Identified, type Piece } from './identify-scans.js';

/** The parcels whose stored scans fit into memory, however many each has. */
const FEW_KEYS = Math.floor(SCANS_PER_PART / (MAX_SCANS + 1));

/** What is stored of locked parcels. */
type StoredParcels = {
  /** The number of stored scans by the key of their parcel. Those beyond `MAX_SCANS` may be missing. */
  counts: Map<string, number>;
  /** The keys that packages have. */
  packageKeys: Set<string>;
  /** The rows, if the parcels are few: that saves a round trip. */
  rows: StoredRows | undefined;
};

/** Scans whose parcels are locked, and the records that decide whether they are stored. */
export type LockedScans = Identified &
  StoredParcels & {
    /** The time of the new scans. ISO 8601, in UTC with milliseconds. */
    arrivedAt: string;
    stored: KnownScan[];
    manifests: ManifestRow[];
    references: CheckedReferences;
  };

/** Tells the parcels of scans before they are locked. */
export const findScans = async (tx: UserTx, piece: Piece): Promise<Identified> =>
  identifyScans(piece, await tx.query(selectRecords(tx, piece.scans)));

/** Tells the parcels of scans, and reads what their admission needs. `locked`: the keys of the locked parcels. */
export async function readLocked(tx: UserTx, piece: Piece, locked: readonly string[]): Promise<LockedScans> {
  const keys = [...new Set(locked)];
  const intakes = intakesOf(piece.scans);
  const statements = [
    ...selectRecords(tx, piece.scans),
    lockedManifests(
      tx,
      piece.scans.flatMap(({ details }) => details.manifest_id ?? []),
      piece.scans.flatMap(({ details }) => details.manifest_number ?? []),
    ),
    findReferences(tx, [...intakes.values()]),
  ] as const;
  const [time, stored, known, namesakes, manifests, found, ...parcels] =
    keys.length <= FEW_KEYS
      ? await tx.query([...statements, ...selectStored(tx, keys)] as const)
      : await tx.query([...statements, ...countStored(tx, keys)] as const);
  return {
    ...(await identifyScans(piece, [time, stored, known, namesakes])),
    ...readStored(parcels),
    arrivedAt: time[0]?.now ?? '',
    stored,
    manifests,
    references: checkReferences(intakes, found),
  };
}

function readStored(rows: StoredRows | StoredCounts): StoredParcels {
  const packageKeys = new Set(rows[0].map(({ trackingKey }) => trackingKey));
  if (rows.length === 2) {
    const counts = new Map(rows[1].map(({ parcelKey, count }) => [parcelKey, count]));
    return { counts, packageKeys, rows: undefined };
  }
  const scans = groupBy(rows[1], ({ parcelKey }) => parcelKey);
  return {
    counts: new Map([...scans].map(([key, own]) => [key, own.length])),
    packageKeys,
    rows,
  };
}
