// A later answer to an earlier scan: somebody else has weighed the parcel before, or what a scan has waited for has arrived.
import type { Session } from '../session/session.js';
import { pairResults } from './batches.js';
import { BATCH_SIZE, twoWeights, type QueuedScan, type ScanResult } from './scans.js';
import { queue, recent, storeReviewed, type Answered } from './store.js';

/** Every minute, and at once after a login. */
export const REVIEW_MS = 60_000;
/** The service keeps scans for much longer. Nobody weighs a parcel again after so long. */
const LONGEST_MS = 7 * 24 * 60 * 60_000;

/** A scan as it was sent, and what the service has answered. */
type Asked = { scan: QueuedScan; known: ScanResult; recent: Answered | undefined };

/**
 * Sends scans again that the service has had before: it executes none of them twice, and answers with the present outcome. So this user
 * sees that an earlier scan has replaced a weight, and conflicts that are over leave the list.
 */
export async function reviewAnswers({ user, client }: Session, stopped: AbortSignal): Promise<void> {
  const asked = scansToAsk(user.id);
  const [first] = asked;
  if (!first) return;
  const request = { station: first.scan.station, scans: asked.map(({ scan }) => scan.request) };
  const response: unknown = await client.packages.sendScans(request, { signal: stopped, maxRetries: 0 });
  const changed = changesIn(asked, (response as { data?: { results?: unknown } } | undefined)?.data?.results);
  if (changed.length === 0) return;
  const needed = changed.filter(({ needsPerson }) => needsPerson);
  await storeReviewed({
    keep: needed.map(({ scan, result }) => ({ ...scan, state: 'attention', result })),
    remove: changed.flatMap((each) => (each.recent || each.needsPerson ? [] : [each.scan])),
    answers: changed.flatMap(({ recent: answer, result }) => (answer ? [{ ...answer, result }] : [])),
    news: needed.flatMap(({ recent: answer, scan, result }) => (answer ? [{ scan, result }] : [])),
  });
}

type Changed = Asked & { result: ScanResult; needsPerson: boolean };

function changesIn(asked: Asked[], results: unknown): Changed[] {
  const { answers } = pairResults(
    asked.map(({ scan }) => scan),
    results,
  );
  const resultOf = new Map(answers.map(({ scan, result }) => [scan.scan_id, result]));
  return asked.flatMap((each): Changed[] => {
    const result = resultOf.get(each.scan.scan_id);
    // A refusal says nothing of the parcel, unless its receipt was voided.
    const isSilent = result?.result === 'refused' && result.reason !== 'receipt_voided';
    if (!result || isSilent || !isNew(each.known, result)) return [];
    const needsPerson = each.recent ? isNewWeight(each.scan, each.known, result) : result.outcome !== 'done';
    return [{ ...each, result, needsPerson }];
  });
}

/** The conflicts that are listed, and the latest parcels that this user has received. */
function scansToAsk(owner: string): Asked[] {
  const since = new Date(Date.now() - LONGEST_MS).toISOString();
  const listed = queue.value.flatMap((scan): Asked[] => {
    const isConflict =
      scan.owner === owner && scan.state === 'attention' && scan.result?.outcome === 'conflict';
    return isConflict && scan.result && scan.request.kind !== 'receive'
      ? [{ scan, known: scan.result, recent: undefined }]
      : [];
  });
  const received = recent.value.flatMap((answer): Asked[] => {
    const { scan, result, sent, at } = answer;
    const isReceived = scan.owner === owner && scan.request.kind === 'receive' && result.outcome === 'done';
    return isReceived && sent && at > since
      ? [{ scan: { ...scan, request: sent }, known: result, recent: answer }]
      : [];
  });
  return [...listed, ...received].slice(0, BATCH_SIZE);
}

const isNew = (known: ScanResult, result: ScanResult): boolean =>
  known.outcome !== result.outcome ||
  known.reason !== result.reason ||
  known.other_receipt?.scanned_at !== result.other_receipt?.scanned_at ||
  known.parcel?.weight !== result.parcel?.weight;

/** Whether there is another weight of which the person does not know. */
const isNewWeight = (scan: QueuedScan, known: ScanResult, result: ScanResult): boolean =>
  twoWeights(scan, result) !== undefined &&
  (known.outcome !== result.outcome ||
    known.other_receipt?.scanned_at !== result.other_receipt?.scanned_at ||
    known.other_receipt?.weight !== result.other_receipt?.weight);
