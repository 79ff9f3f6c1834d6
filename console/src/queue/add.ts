import { settings } from '../device/settings.js';
import { session } from '../session/session.js';
import { newScanId, stampOf, storable, type QueuedScan, type StationScan } from './scans.js';
import { enqueue } from './store.js';

type Made = 'scan_id' | 'scanned_at';
/** What a page knows of a scan. */
export type NewScan = StationScan extends infer Kind
  ? Kind extends StationScan
    ? Omit<Kind, Made>
    : never
  : never;

/** Returns a scan of the user that is logged in, with the id under which the service executes it at most once. */
export function makeScan(scan: NewScan, moment = new Date()): QueuedScan {
  const user = session.value?.user;
  if (!user) throw new Error('Nobody is logged in.');
  const made = { scan_id: newScanId(), scanned_at: stampOf(moment) };
  return {
    scan_id: made.scan_id,
    owner: user.id,
    ownerName: user.full_name,
    station: storable(settings.value.station).trim() || 'Console',
    request: { ...scan, ...made, scan: storable(scan.scan) },
    state: 'waiting',
  };
}

/** Stores a scan of the user that is logged in. It is sent as soon as the service can be reached. */
export async function addScan(scan: NewScan): Promise<QueuedScan> {
  const queued = makeScan(scan);
  await enqueue(queued);
  return queued;
}
