// Corrections of measures wait on the device like scans: they are sent when the scan was executed, and repeated after a failure.
import { ApiError } from '../../../sdk/typescript/src/index.js';
import { messageOf, type Session } from '../session/session.js';
import {
  corrections,
  noteCorrected,
  putCorrection,
  queue,
  recent,
  removeCorrection,
  type Correction,
} from './store.js';

type Measures = Correction['measures'];

/** Corrects the measures of a scan that waits, or of the parcel that it received. Resolves when the correction is on the disk. */
export async function correctScan(
  scan: { scan_id: string; owner: string; scan: string },
  measures: Measures,
): Promise<void> {
  await putCorrection({ ...scan, measures, package_id: packageOf(scan.scan_id) });
}

/** Returns the corrections of a user that can be sent: those of scans that were executed. */
export function dueCorrections(owner: string): Correction[] {
  const waiting = new Set(queue.value.map(({ scan_id }) => scan_id));
  return corrections.value
    .filter((each) => each.owner === owner && each.failure === undefined && !waiting.has(each.scan_id))
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
    await putCorrection({ ...correction, failure: messageOf(error) });
    return;
  }
  await noteCorrected(correction);
  await removeCorrection(correction);
}

const REFUSALS = new Set([400, 403, 404, 409, 422]);
const isRefusal = (error: unknown) => error instanceof ApiError && REFUSALS.has(error.status);
