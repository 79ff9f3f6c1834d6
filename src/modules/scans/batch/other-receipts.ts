import type { UserTx } from '../../../platform/db/scope.js';
import { compareScans } from '../fold/fold.js';
import { userNames } from './stored/queries.js';
import type { FoldedWork } from './save.js';
import type { ScanOfParcel } from './stored-parcel.js';

/** Another receive scan of the same parcel. Somebody has weighed it twice. */
export type OtherReceipt = {
  weightLb: number;
  /** ISO 8601, in UTC. */
  scannedAt: string;
  station: string;
  userName: string | null;
};

/** Returns, by the id of a receive scan: for the one that counts the latest of the others, and for the others the one that counts. */
export async function readOtherReceipts(tx: UserTx, work: FoldedWork[]): Promise<Map<string, OtherReceipt>> {
  const pairs = work.flatMap(pairReceipts);
  if (pairs.length === 0) return new Map();
  const rows = await tx.query(userNames(tx, [...new Set(pairs.map(([, { userId }]) => userId))]));
  const nameOf = new Map(rows.map(({ id, fullName }) => [id, fullName]));
  return new Map(
    pairs.map(([id, { details, scannedAt, station, userId }]) => [
      id,
      { weightLb: details.weight ?? 0, scannedAt, station, userName: nameOf.get(userId) ?? null },
    ]),
  );
}

function pairReceipts({ parcel, folded }: FoldedWork): [scanId: string, other: ScanOfParcel][] {
  const receives = parcel.scans.filter(({ kind }) => kind === 'receive').sort(compareScans);
  const counting = receives.find(({ id }) => id === folded.receiptId);
  const latest = receives.findLast((scan) => scan !== counting);
  if (!counting || !latest) return [];
  return receives.map((scan) => [scan.id, scan === counting ? latest : counting]);
}
