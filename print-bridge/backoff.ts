import { setTimeout as pause } from 'node:timers/promises';

const LONGEST_MS = 30_000;
const FIRST_MS = 500;

/**
 * Waits before the next attempt. The delay doubles with each attempt, with jitter, so that bridges do not return together.
 * Rejects when `stop` is aborted.
 *
 * @param attempt counts from 0
 */
export async function waitBeforeRetry(attempt: number, stop: AbortSignal, askedMs = 0): Promise<void> {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  const delay = Math.max(askedMs, longest / 2 + (Math.random() * longest) / 2);
  await pause(delay, undefined, { signal: stop });
}
