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

/** Stores a scan of the user that is logged in. It is sent as soon as the service can be reached. */
export async function addScan(scan: NewScan): Promise<QueuedScan> {
  const user = session.value?.user;
  if (!user) throw new Error('Nobody is logged in.');
  const made = { scan_id: newScanId(), scanned_at: stampOf(new Date()) };
  const queued: QueuedScan = {
    scan_id: made.scan_id,
    owner: user.id,
    ownerName: user.full_name,
    station: storable(settings.value.station).trim() || 'Console',
    request: { ...scan, ...made, scan: storable(scan.scan) },
    state: 'waiting',
  };
  await enqueue(queued);
  return queued;
}
