import type { UserContext } from '../../../platform/context/request-context.js';
import { keepUserCodes } from '../../../platform/db/locks.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { lockLooked } from '../../packages/public.js';
import { admitScans, type AdmittedScan } from './admission/admit-scans.js';
import { executeParcels, type ParcelResult } from './execute-parcels.js';
import { divideScans } from './admission/batch-parcels.js';
import { readItems, type Items } from './messages/read-items.js';
import { divideIntoPieces } from './messages/pieces.js';
import type { Piece } from './admission/identify-scans.js';
import { findScans, readLocked } from './admission/lock-scans.js';
import { isAccepted, type RefusedScan, type SentItem } from './messages/read-scans.js';

/** A scan that is stored, and the state of its parcel. */
export type ExecutedScan = { scan: AdmittedScan; parcel: ParcelResult };

type SentBatch = { station: string; scans: Items };

/**
 * Executes scans, each at most once, a hundred in one transaction. Returns the results in the order of the scans. A scan that is refused
 * does not affect the others. See decisions 0061 and 0096.
 *
 * @param giveWay lets the batches of other users run, between two transactions
 */
export async function executeBatch(
  ctx: UserContext,
  { station, scans: items }: SentBatch,
  giveWay: () => Promise<void>,
): Promise<(RefusedScan | ExecutedScan)[]> {
  const read = await readItems(items);
  const all = read.filter(isAccepted);
  const pieces = divideIntoPieces(all);
  const results = new Map<SentItem, RefusedScan | ExecutedScan>();
  for (const [index, scans] of pieces.entries()) {
    if (index > 0) await giveWay();
    const execute = (tx: UserTx) => executePiece(tx, station, { scans, all });
    // The locks of one transaction would stop intake and pre-alerts for seconds. A repetition of the batch finds what is stored.
    const isLast = index === pieces.length - 1;
    const executed = await ctx.write(execute, isLast ? {} : { keptIfRefused: true });
    for (const [at, scan] of scans.entries()) {
      const result = executed[at];
      if (result) results.set(scan, result);
    }
  }
  return read.map((each) => (isAccepted(each) ? resultOf(results, each) : each));
}

function resultOf(results: Map<SentItem, RefusedScan | ExecutedScan>, scan: SentItem) {
  const result = results.get(scan);
  if (!result) throw new Error('A scan of the batch is in no piece.');
  return result;
}

/** Returns the results in the order of the scans. */
async function executePiece(
  tx: UserTx,
  station: string,
  piece: Piece,
): Promise<(RefusedScan | ExecutedScan)[]> {
  const userCodes = piece.scans.flatMap(({ details }) => details.user_code ?? []);
  if (userCodes.length > 0) tx.later(keepUserCodes(tx.tenantId, userCodes));
  const locked = await lockLooked(tx, {
    look: () => findScans(tx, piece),
    identify: (keys) => readLocked(tx, piece, keys),
  });
  const admitted = admitScans(locked);
  const { parts, refused } = divideScans(admitted.filter(isAccepted), locked);
  const parcels: ParcelResult[] = [];
  const { arrivedAt, rows } = locked;
  for (const part of parts)
    parcels.push(...(await executeParcels(tx, { station, arrivedAt, parcels: part, rows })));
  return admitted.map((each) => {
    if (!isAccepted(each)) return each;
    const refusal = refused.get(each.id);
    return refusal ? { scanId: each.id, refusal } : { scan: each, parcel: parcelOf(parcels, each) };
  });
}

function parcelOf(parcels: ParcelResult[], scan: AdmittedScan): ParcelResult {
  // A stored scan of a parcel with more scans than are folded has no reason of this fold.
  const parcel =
    parcels.find(({ reasons }) => reasons.has(scan.id)) ??
    parcels.find(({ keys }) => scan.keys.some((key) => keys.includes(key)));
  if (!parcel) throw new Error('A scan of the batch belongs to no parcel.');
  return parcel;
}
