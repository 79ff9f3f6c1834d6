// What this device keeps of a parcel whose receipt was voided.
import { answered } from '../../queue/answers.js';
import type { QueuedScan, ScanResult } from '../../queue/scans.js';
import {
  corrections,
  queue,
  recent,
  removeCorrection,
  removeLabels,
  storeReviewed,
} from '../../queue/store.js';

type Known = { scan: QueuedScan; result: ScanResult };

/**
 * Gives the scans of the parcel the answer that the service would give now. Its corrections and its label wait no more. Throws if the disk
 * fails; the review of the answers does the same within a minute.
 */
export async function forgetParcel(packageId: string): Promise<void> {
  const isOfParcel = ({ result }: { result?: ScanResult }) => result?.parcel?.package_id === packageId;
  const stored = recent.value.filter(isOfParcel);
  const ids = new Set(stored.map(({ scan }) => scan.scan_id));
  // The disk was full when they came.
  const others = answered.value.filter((each) => isOfParcel(each) && !ids.has(each.scan.scan_id));
  const at = new Date().toISOString();
  await storeReviewed({
    remove: queue.value.filter((scan) => scan.state === 'attention' && isOfParcel(scan)),
    keep: [],
    answers: [
      ...stored.map((each) => ({ ...each, ...voided(each) })),
      ...others.map((each) => ({ ...voided(each), owner: each.scan.owner, at })),
    ],
    news: [],
  });
  for (const each of corrections.value) if (each.package_id === packageId) await removeCorrection(each);
  await removeLabels([{ package_id: packageId }]);
}

const voided = ({ scan, result }: Known): Known => ({
  scan,
  result: {
    ...result,
    result: 'refused',
    outcome: null,
    reason: 'receipt_voided',
    parcel: null,
    other_receipt: null,
  },
});
