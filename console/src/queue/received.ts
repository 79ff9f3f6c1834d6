// The parcels that a user has received on this device, and the measures that they have. Without IndexedDB and the network.
import { isExecuted, isWaiting, type Correction, type QueuedScan, type ScanResult } from './scans.js';

type ReceiveRequest = Extract<QueuedScan['request'], { kind: 'receive' }>;

export type Received = {
  scan: QueuedScan;
  /** With the measures that the service has. As long as there is no result, it has none of them. */
  request: ReceiveRequest;
  result: ScanResult | undefined;
  /** New measures that the service does not have yet. */
  correction: Correction | undefined;
};

type Known = { scan: QueuedScan; result?: ScanResult };

/** What this device has stored. Of two answers to a scan, the first counts. */
export type Stored = { queue: QueuedScan[]; answers: Known[]; corrections: Correction[] };

/** Returns the parcels that a user has received or whose scan waits, the latest first. */
export function receivedParcels(owner: string, { queue, answers, corrections }: Stored): Received[] {
  const waiting = queue.filter(({ state }) => state === 'waiting').map((scan): Known => ({ scan }));
  const done = answers.flatMap(withStoredMeasures);
  const known = new Map<string, Known>();
  for (const each of [...waiting, ...done])
    if (!known.has(each.scan.scan_id)) known.set(each.scan.scan_id, each);
  return [...known.values()]
    .flatMap(({ scan, result }): Received[] => {
      if (scan.owner !== owner || scan.request.kind !== 'receive') return [];
      const correction = corrections.find((each) => each.scan_id === scan.scan_id && isWaiting(each));
      return [{ scan, request: scan.request, result, correction }];
    })
    .sort((a, b) => compareText(b.request.scanned_at, a.request.scanned_at));
}

/** A parcel that was received before has the measures of the other scan, of which only the weight is known. */
function withStoredMeasures({ scan, result }: Known): Known[] {
  const weight = result?.parcel?.weight;
  if (!result || !isExecuted(result) || scan.request.kind !== 'receive') return [];
  if (result.outcome === 'done')
    return [{ scan: withMeasures(scan, { weight: weight ?? scan.request.weight }), result }];
  if (!result.parcel?.package_id || typeof weight !== 'number') return [];
  const { length: _, width: __, height: ___, ...request } = scan.request;
  return [{ scan: { ...scan, request: { ...request, weight } }, result }];
}

const withMeasures = (scan: QueuedScan, measures: object): QueuedScan => ({
  ...scan,
  request: { ...scan.request, ...measures },
});

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The measures after everything that waits was sent. */
export const latestMeasures = ({ request, correction }: Received): Correction['measures'] => {
  const { weight, length, width, height } = { ...request, ...correction?.measures };
  return {
    weight,
    ...(length === undefined ? {} : { length }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  };
};
