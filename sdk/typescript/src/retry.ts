import { ApiError, ConnectionError } from './errors.js';

export type RetrySettings = {
  /** How often a request is repeated after the first attempt. Default 3. */
  maxRetries: number;
  /** A longer `Retry-After` is not waited for; the error is thrown. Default 60,000. */
  maxRetryAfterMs: number;
};

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 20_000;

// 500 is not among them: the service asks not to send such a request again at once.
const STATUSES = new Set([408, 429, 502, 503, 504]);

/**
 * Returns how long to wait before the next attempt, or undefined if the error is final. `Retry-After` leads; otherwise the
 * delay doubles with each attempt, with jitter.
 * @param attempt counts from 0
 */
export function delayBeforeRetry(
  error: unknown,
  attempt: number,
  { maxRetries, maxRetryAfterMs }: RetrySettings,
): number | undefined {
  if (attempt >= maxRetries || !isTemporary(error)) return undefined;
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
  if (asked !== undefined) return asked > maxRetryAfterMs ? undefined : asked;
  const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  return longest / 2 + (Math.random() * longest) / 2;
}

function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof ApiError)) return false;
  return STATUSES.has(error.status) || error.code === 'idempotency_in_progress';
}

/** Resolves after the delay. Rejects with the reason of the signal if it is aborted. */
export function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The reason of an aborted signal, as an Error. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new DOMException('The call was aborted.', 'AbortError');
}
