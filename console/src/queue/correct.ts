// Corrections of measures wait on the device like scans: they are sent when the scan was executed, and repeated after a failure.
import { ApiError } from '../../../sdk/typescript/src/index.js';
import { messageOf, type Session } from '../session/session.js';
import { isWaiting, newScanId, type Correction, type QueuedScan } from './scans.js';
import { corrections, putCorrection, queue, recent, settleCorrection } from './store.js';

type Measures = Correction['measures'];

/** Corrects the measures of a scan that waits, or of the parcel that it received. Resolves when the correction is on the disk. */
export async function correctScan(scan: QueuedScan, measures: Measures): Promise<Correction> {
  const correction: Correction = {
    scan_id: scan.scan_id,
    correction_id: newScanId(),
    owner: scan.owner,
    ownerName: scan.ownerName,
    scan: scan.request.scan,
    measures,
    package_id: packageOf(scan.scan_id),
  };
  await putCorrection(correction);
  return correction;
}

/** Returns the corrections of a user that can be sent: those of scans that were executed. */
export function dueCorrections(owner: string): Correction[] {
  // A scan that only needs a person, such as one of two weights, was executed.
  const waiting = new Set(
    queue.value.flatMap(({ scan_id, state }) => (state === 'waiting' ? [scan_id] : [])),
  );
  return corrections.value
    .filter((each) => each.owner === owner && isWaiting(each) && !waiting.has(each.scan_id))
    .map((each) => ({ ...each, package_id: each.package_id ?? packageOf(each.scan_id) }))
    .filter(({ package_id }) => package_id !== null);
}

const packageOf = (scanId: string) =>
  recent.value.find(({ scan }) => scan.scan_id === scanId)?.result.parcel?.package_id ?? null;

/** Sends a correction. UpdatePackage changes nothing if the package has these measures already, so it can be repeated. */
export async function sendCorrection(
  { client }: Session,
  correction: Correction,
  stopped: AbortSignal,
): Promise<void> {
  const { package_id: packageId, measures } = correction;
  if (packageId === null) return;
  try {
    await client.packages.update({ package_id: packageId, ...measures }, { signal: stopped, maxRetries: 0 });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await settleCorrection({ ...correction, failure: messageOf(error) });
    return;
  }
  await settleCorrection(correction);
}

const REFUSALS = new Set([400, 403, 404, 409, 422]);
const isRefusal = (error: unknown) => error instanceof ApiError && REFUSALS.has(error.status);
