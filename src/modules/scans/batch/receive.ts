import type { UserTx } from '../../../platform/db/scope.js';
import {
  receiveParcel,
  replaceReceipt,
  rescanPackage,
  type IdentifiedIntake,
} from '../../packages/public.js';
import { compareScans } from '../fold/fold.js';
import { toIntake } from './messages/read-scans.js';
import type { PackageRow } from './stored/queries.js';
import type { ScanOfParcel, StoredParcel } from './stored-parcel.js';

/** A parcel after the intake of its new scans. */
export type ReceivedParcel = StoredParcel & {
  receivedBy: 'nobody' | 'scan' | 'intake';
  /** The scan whose receipt the package has; undefined if no scan has received it. */
  appliedReceipt: ScanOfParcel | undefined;
  /** The key that the rows of the parcel have. */
  key: string;
};

/** Receives a parcel that has a receive scan and no package. The intake is that of ReceivePackage. */
export async function receive(tx: UserTx, parcel: StoredParcel): Promise<ReceivedParcel> {
  const receives = parcel.scans.filter(({ kind }) => kind === 'receive').sort(compareScans);
  const fresh = receives.filter(({ outcome }) => outcome === null);
  const [first] = fresh;
  const known = parcel.package;
  if (known || !first) {
    if (known && first) await rescanPackage(tx, known.id, keysOf(fresh));
    const appliedReceipt = receives.find(({ outcome }) => outcome === 'done');
    const receivedBy = !known ? 'nobody' : appliedReceipt ? 'scan' : 'intake';
    return { ...parcel, receivedBy, appliedReceipt, key: known?.trackingKey ?? parcel.keys[0] ?? '' };
  }
  const { row } = await receiveParcel(tx, toIntake(first), identifiedIntake(first));
  const { id, courierId, trackingKey, status } = row;
  const trackingNumber = first.parcel?.trackingNumber ?? first.scan;
  const stored: PackageRow = { id, courierId, status, trackingKey, trackingNumber, manifestId: null };
  const [, ...later] = fresh;
  if (later.length > 0) await rescanPackage(tx, id, keysOf(later));
  return { ...parcel, package: stored, receivedBy: 'scan', appliedReceipt: first, key: trackingKey };
}

const keysOf = (scans: ScanOfParcel[]): string[] => [...new Set(scans.flatMap(({ keys }) => keys))];

function identifiedIntake({ parcel, references }: ScanOfParcel): IdentifiedIntake {
  if (!parcel || !references) throw new Error('A new receive scan without a package names no new parcel.');
  return { parcel, references };
}

/** Gives the package the receipt of an earlier scan that has arrived now. */
export async function correctReceipt(
  tx: UserTx,
  { package: stored, appliedReceipt, scans }: ReceivedParcel,
  receiptId: string | null,
): Promise<void> {
  if (!stored || !appliedReceipt || receiptId === appliedReceipt.id) return;
  const receipt = scans.find(({ id }) => id === receiptId);
  if (receipt) await replaceReceipt(tx, stored.id, toIntake(appliedReceipt), toIntake(receipt));
}
