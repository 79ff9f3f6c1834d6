import { effect, signal } from '@preact/signals';
import { ApiError } from '../../../sdk/typescript/src/index.js';
import { isExpired, type Session } from '../session/session.js';
import { Batches } from './batches.js';
import { delayAfter, settle, type Batch, type QueuedScan, type ScanResult } from './scans.js';
import { queue, refresh, storeSettled } from './store.js';

/** Why the last batch was not sent. Null after a batch that was. */
export const sendError = signal<{ message: string; isOffline: boolean } | null>(null);

/**
 * Sends the waiting scans of the session's user until it is stopped. Of all tabs of a user, one sends: the one that has the
 * lock. A closed or crashed tab loses the lock.
 */
export function startSender(session: Session): () => void {
  const stopper = new AbortController();
  const { signal: stopped } = stopper;
  // Also in the tabs that do not send.
  void refresh();
  const run = () => sendUntil(session, stopped);
  // Only pages with HTTPS have locks. Without them two tabs may send the same scan, which the service executes once.
  const { locks } = navigator as { locks?: LockManager };
  const running = locks
    ? locks.request(`crossdock-queue-${session.user.id}`, { signal: stopped }, run)
    : run();
  running.catch((error: unknown) => {
    if (!stopped.aborted) throw error;
  });
  return () => stopper.abort();
}

async function sendUntil(session: Session, stopped: AbortSignal): Promise<void> {
  const batches = new Batches();
  let failures = 0;
  await refresh();
  while (!stopped.aborted) {
    const batch = isExpired.value ? undefined : batches.next(queue.value, session.user.id);
    if (!batch) {
      await nextChange(stopped);
      continue;
    }
    try {
      await send(session, batches, batch, stopped);
      failures = 0;
      sendError.value = null;
    } catch (error) {
      // The session ended, or the tab is closing.
      if (isAborted(stopped)) return;
      failures += 1;
      sendError.value = { message: messageOf(error), isOffline: !(error instanceof ApiError) };
      await pause(delayAfter(failures, Math.random()), stopped);
    }
  }
}

// A function, because the compiler thinks that the loop's condition still holds.
const isAborted = (stopped: AbortSignal) => stopped.aborted;

async function send(session: Session, batches: Batches, batch: Batch, stopped: AbortSignal): Promise<void> {
  const results = await resultsOf(session, batches, batch, stopped);
  if (!results) return;
  const byId = new Map<string | null, QueuedScan>(batch.scans.map((scan) => [scan.scan_id, scan]));
  const answers = results.flatMap((result) => {
    const scan = byId.get(result.scan_id);
    return scan ? [{ scan, result, remains: settle(scan, result) }] : [];
  });
  if (answers.length === 0) throw new Error('The response has no result for the scans that were sent.');
  await storeSettled(answers);
}

/** Returns the service's results, or undefined if the scans must go out in smaller batches. */
async function resultsOf(
  { client }: Session,
  batches: Batches,
  batch: Batch,
  stopped: AbortSignal,
): Promise<ScanResult[] | undefined> {
  const { station, scans } = batch;
  try {
    const { data } = await client.packages.sendScans(
      { station, scans: scans.map(({ request }) => request) },
      { signal: stopped, maxRetries: 0 },
    );
    batches.succeeded(batch);
    return data.results;
  } catch (error) {
    const failure = batches.failed(batch, error instanceof ApiError ? error : undefined);
    if (failure.action === 'wait') throw error;
    return failure.action === 'setAside' ? [failure.result] : undefined;
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Resolves when a scan arrives, when the session continues, or when it ends. */
function nextChange(stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let isFirst = true;
    const stop = effect(() => {
      const isSendable = queue.value.length > 0 && !isExpired.value;
      if (isFirst) isFirst = false;
      else if (isSendable) finish();
    });
    stopped.addEventListener('abort', finish, { once: true });
    function finish(): void {
      // Not during the effect that called it.
      queueMicrotask(() => stop());
      resolve();
    }
  });
}

/** Waits, but not when the network comes back. */
function pause(delayMs: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = new AbortController();
    const finish = () => {
      done.abort();
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, delayMs);
    window.addEventListener('online', finish, { signal: done.signal });
    stopped.addEventListener('abort', finish, { signal: done.signal });
  });
}
