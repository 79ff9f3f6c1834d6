import { ApiError, ConnectionError } from './errors.js';
import * as table from './generated/retries.js';

export type RetrySettings = {
  /** How often a request is repeated after the first attempt. Default 4. */
  maxRetries: number;
  /** A longer `Retry-After` is not waited for; the error is thrown. Default 60,000. */
  maxRetryAfterMs: number;
  /** No attempt begins later than this after the first. Default 150,000. */
  lastAttemptMs: number;
};

/** What is known when an attempt has failed. */
export type Failed = {
  /** Counts from 0. */
  attempt: number;
  /** When the first attempt began, in milliseconds of performance.now(). */
  startMs: number;
  /** Whether the request may be executed twice. */
  isRepeatable: boolean;
};

/** Returns how long to wait before the next attempt, or undefined if the error is final. */
export function delayBeforeRetry(
  error: unknown,
  { attempt, startMs, isRepeatable }: Failed,
  { maxRetries, maxRetryAfterMs, lastAttemptMs }: RetrySettings,
): number | undefined {
  if (attempt >= maxRetries || !isTemporary(error, isRepeatable)) return undefined;
  const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  if (askedMs > maxRetryAfterMs) return undefined;
  const delayMs = Math.max(askedMs, pauseMs(attempt));
  return performance.now() - startMs + delayMs > lastAttemptMs ? undefined : delayMs;
}

function isTemporary(error: unknown, isRepeatable: boolean): boolean {
  if (error instanceof ConnectionError) return isRepeatable || !error.wasSent;
  if (!(error instanceof ApiError)) return false;
  if (table.ALWAYS.includes(error.status) || table.CODES.includes(error.code)) return true;
  return isRepeatable && table.REPEATABLE.includes(error.status);
}

/** Doubles with each attempt. A part of it is random, so that clients do not all return together. */
function pauseMs(attempt: number): number {
  const seconds = Math.min(
    table.LONGEST_PAUSE_SECONDS,
    table.FIRST_PAUSE_SECONDS * table.PAUSE_FACTOR ** attempt,
  );
  return seconds * 1000 * (1 - table.PAUSE_JITTER * Math.random());
}

/** Resolves after the delay, never before. Rejects with the reason of the signal if it is aborted. */
export function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const endMs = performance.now() + delayMs;
    const wait = (restMs: number) => setTimeout(onTimer, Math.ceil(restMs));
    // A timer can fire a millisecond early, because it counts whole milliseconds.
    const onTimer = () => {
      const restMs = endMs - performance.now();
      if (restMs > 0) timer = wait(restMs);
      else {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }
    };
    let timer = wait(delayMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The reason of an aborted signal, as an Error. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new DOMException('The call was aborted.', 'AbortError');
}
