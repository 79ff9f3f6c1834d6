import { effect, signal } from '@preact/signals';
import { ApiError, ConnectionError } from '../../../sdk/typescript/src/index.js';
import { isExpired, messageOf, type Session } from '../session/session.js';
import { t } from '../texts/texts.js';
import { labelOf } from '../station/labels.js';
import { Batches, pairResults } from './batches.js';
import { dueCorrections, sendCorrection } from './correct.js';
import { REVIEW_MS, reviewAnswers } from './review.js';
import { delayAfter, settle, type Batch } from './scans.js';
import { corrections, isQueueRead, openQueue, queue, recent, refresh, storeSettled } from './store.js';

/** Why the last batch was not sent. Null after a batch that was. */
export const sendError = signal<{ message: string; isOffline: boolean } | null>(null);

/**
 * Sends the waiting scans of the session's user until it is stopped. Of all tabs of a user, one sends: the one that has the
 * lock. A closed or crashed tab loses the lock.
 */
export function startSender(session: Session): () => void {
  const stopper = new AbortController();
  const { signal: stopped } = stopper;
  // Also in the tabs that do not send. The queue says why it cannot be read.
  openQueue().catch(() => undefined);
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
  let reviewAtMs = 0;
  // Also while a batch is on its way. Its failure, and that of the first attempts over a new connection, must not cause the longest pause.
  window.addEventListener('online', () => (failures = 0), { signal: stopped });
  while (!isAborted(stopped)) {
    try {
      if (!isQueueRead.value) await refresh();
      const batch = isExpired.value ? undefined : batches.next(queue.value, session.user.id);
      const [correction] = isExpired.value || batch ? [] : dueCorrections(session.user.id);
      if (batch) await send(session, batches, batch, stopped);
      else if (correction) await sendCorrection(session, correction, stopped);
      else if (Date.now() >= reviewAtMs && !isExpired.value) {
        reviewAtMs = Date.now() + REVIEW_MS;
        // Nothing waits, so a failure is not shown. The next review repeats it.
        await reviewAnswers(session, stopped).catch(() => undefined);
        continue;
      } else {
        await nextChange(stopped, isExpired.value ? REVIEW_MS : reviewAtMs - Date.now());
        continue;
      }
      failures = 0;
      sendError.value = null;
    } catch (error) {
      // The session ended, or the tab is closing.
      if (isAborted(stopped)) return;
      failures += 1;
      sendError.value = { message: messageOf(error), isOffline: error instanceof ConnectionError };
      const askedMs = error instanceof ApiError ? error.retryAfterMs : undefined;
      await pause(delayAfter(failures, Math.random(), askedMs), stopped);
    }
  }
}

// A function, because the compiler thinks that the loop's condition still holds.
const isAborted = (stopped: AbortSignal) => stopped.aborted;

async function send(session: Session, batches: Batches, batch: Batch, stopped: AbortSignal): Promise<void> {
  const results = await resultsOf(session, batches, batch, stopped);
  if (results === 'split') return;
  const { answers, unanswered } = pairResults(batch.scans, results);
  const settled = answers.map((answer) => ({ ...answer, remains: settle(answer.scan, answer.result) }));
  try {
    await storeSettled(settled, labelOf);
  } catch (error) {
    // The disk is full. Scans that need less room are settled first.
    batches.postpone(batch.scans);
    throw error;
  }
  if (unanswered.length === 0) return;
  batches.postpone(unanswered);
  throw new Error(t('common.unexpected'));
}

/** Returns the service's results, or that the scans must go out in smaller batches. */
async function resultsOf(
  { client }: Session,
  batches: Batches,
  batch: Batch,
  stopped: AbortSignal,
): Promise<unknown> {
  const { station, scans } = batch;
  try {
    const response: unknown = await client.packages.sendScans(
      { station, scans: scans.map(({ request }) => request) },
      { signal: stopped, maxRetries: 0 },
    );
    batches.succeeded(batch);
    // It may come from something else than the service, for example the login page of a network.
    return (response as { data?: { results?: unknown } } | undefined)?.data?.results;
  } catch (error) {
    const failure = batches.failed(batch, error instanceof ApiError ? error : undefined);
    if (failure.action === 'wait') throw error;
    return failure.action === 'setAside' ? [failure.result] : 'split';
  }
}

/** Resolves when a scan arrives, when the session continues or ends, or after a while. */
function nextChange(stopped: AbortSignal, longestMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, Math.max(0, longestMs));
    let isFirst = true;
    const stop = effect(() => {
      const isSendable =
        queue.value.length + corrections.value.length + recent.value.length > 0 && !isExpired.value;
      if (isFirst) isFirst = false;
      else if (isSendable) finish();
    });
    stopped.addEventListener('abort', finish, { once: true });
    function finish(): void {
      clearTimeout(timer);
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
