import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import type { UserTx } from '../../../platform/db/scope.js';
import type { PackageStatus } from '../../packages/public.js';
import { keysOfStored } from '../../tracking-numbers/public.js';
import type { ConflictReason } from '../fold/fold.js';
import { foldStoredParcel, readManifests, type ManifestFacts } from './fold-stored-parcel.js';
import { readOtherReceipts, type OtherReceipt } from './other-receipts.js';
import { packageStates, type PositionRow, type StateRow } from './stored/queries.js';
import { correctReceipt, receive, type ReceivedParcel } from './receive.js';
import { positionOf, saveScans, type FoldedWork } from './save.js';
import { planMoves, recordPlanned } from './status-moves.js';
import { readParcels, type SentParcels } from './stored-parcel.js';

/** The state of a parcel after a batch, and the reasons of the conflicts of its scans; null for a scan that is done. */
export type ParcelResult = {
  keys: string[];
  state: StateRow | undefined;
  position: PositionRow | undefined;
  reasons: Map<string, ConflictReason | null>;
  otherReceipts: Map<string, OtherReceipt>;
};

/** Stores the new scans of parcels whose locks the transaction has, folds each parcel, and applies the difference. */
export async function executeParcels(tx: UserTx, sent: SentParcels): Promise<ParcelResult[]> {
  const received: ReceivedParcel[] = [];
  for (const parcel of await readParcels(tx, sent)) received.push(await receive(tx, parcel));
  const manifests = await readManifests(tx, received);
  const work = await foldParcels(received, manifests);
  for (const { parcel, folded } of work) await correctReceipt(tx, parcel, folded.receiptId);
  await recordPlanned(
    tx,
    work.map(({ moves }) => moves),
  );
  await saveScans(tx, sent.station, work);
  const parcelKeys = received.map((parcel) => ({ key: parcel.key, keys: allKeysOf(parcel) }));
  const states = new Map(
    (await tx.query(packageStates(tx, parcelKeys))).map((row) => [row.trackingKey, row]),
  );
  const otherReceipts = await readOtherReceipts(tx, work);
  return work.map(({ parcel, folded, position }) => ({
    keys: parcel.keys,
    state: states.get(parcel.key),
    position,
    reasons: folded.reasons,
    otherReceipts,
  }));
}

/** The keys of a parcel, whichever of its symbols was scanned: a scan that is sent again, or a house number, tells only one. */
const allKeysOf = ({ keys, package: stored }: ReceivedParcel): string[] => [
  ...new Set([...keys, ...(stored ? keysOfStored(stored) : [])]),
];

async function foldParcels(parcels: ReceivedParcel[], manifests: ManifestFacts): Promise<FoldedWork[]> {
  const work: FoldedWork[] = [];
  for (const parcel of parcels) {
    await pauseWhenDue();
    const folded = foldStoredParcel(parcel, manifests);
    work.push({ parcel, folded, moves: planMoves(parcel, folded), position: positionOf(parcel, folded) });
  }
  return work;
}

/** Executes the stored scans of a parcel that ReceivePackage has received. Returns the status of its package. */
export async function executeWaitingScans(tx: UserTx, keys: string[]): Promise<PackageStatus | undefined> {
  // No scan is new, so none has a station or a time of its own.
  const [parcel] = await executeParcels(tx, {
    station: '',
    arrivedAt: '',
    parcels: [{ keys, storedKeys: keys, scans: [] }],
  });
  return parcel?.state?.status;
}
