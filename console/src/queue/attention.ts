// Which scans a person must look after. Without IndexedDB and the network.
import { twoWeights, type QueuedScan, type ScanResult } from './scans.js';

/** Scans of one parcel with one problem. */
export type AttentionGroup = {
  /** The latest of them. */
  scan: QueuedScan;
  scans: QueuedScan[];
};

/** Groups the scans that need a person, the latest first. A parcel with one problem is one entry, however often it was scanned. */
export function groupAttention(scans: QueuedScan[]): AttentionGroup[] {
  const latestFirst = scans
    .filter(({ state, result }) => state === 'attention' && result)
    .sort((a, b) => compareText(b.request.scanned_at, a.request.scanned_at));
  const groups = new Map<string, AttentionGroup>();
  for (const scan of latestFirst) {
    const key = JSON.stringify([scan.request.kind, parcelOf(scan), problemOf(scan), manifestOf(scan)]);
    const group = groups.get(key);
    if (group) group.scans.push(scan);
    else groups.set(key, { scan, scans: [scan] });
  }
  return [...groups.values()];
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Two weights are one problem, whichever of the two scans tells of them. */
function problemOf(scan: QueuedScan): unknown {
  const weights = scan.result && twoWeights(scan, scan.result);
  return weights ? [weights.own, weights.other].sort((a, b) => a - b) : scan.result?.reason;
}

const parcelOf = ({ request, result }: QueuedScan): string =>
  (result?.parcel?.tracking_number ?? request.scan).toUpperCase();

const manifestOf = ({ request }: QueuedScan): string | undefined =>
  'manifest_id' in request ? request.manifest_id : undefined;

/** Returns the listed scans that the answer to a scan has settled. */
export function settledBy(queue: QueuedScan[], scan: QueuedScan, result: ScanResult): QueuedScan[] {
  if (result.outcome !== 'done') return [];
  const { kind, scan: text } = scan.request;
  const number = result.parcel?.tracking_number;
  return queue.filter((listed) => {
    const isSame =
      listed.owner === scan.owner &&
      listed.state === 'attention' &&
      (listed.request.scan === text ||
        (number !== undefined && listed.result?.parcel?.tracking_number === number));
    if (!isSame) return false;
    // The service executes what has waited for the receipt. A parcel is on the flight that it was loaded for last.
    if (kind === 'receive') return listed.result?.reason === 'not_received';
    if (listed.request.kind !== 'load') return false;
    return kind === 'load' || (kind === 'unload' && manifestOf(listed) === manifestOf(scan));
  });
}
