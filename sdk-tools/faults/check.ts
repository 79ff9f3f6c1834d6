import { RETRIES } from '../retries.js';
import { RETRY_AFTER_SECONDS, type Fault } from './faults.js';
import type { Attempt } from './proxy.js';

const ASKS_TO_WAIT = new Set<Fault | undefined>(['http_429', 'http_429_date', 'http_503', 'in_progress']);

/** Timers of some languages fire a few milliseconds early. */
const EARLY_MS = 20;

/** Returns what is wrong with the attempts at one write, or undefined: their number, key, body and pauses. */
export function faultOfAttempts(attempts: Attempt[], expected: number): string | undefined {
  const [first, ...others] = attempts;
  if (!first || attempts.length !== expected)
    return `the write was attempted ${attempts.length} times, not ${expected}`;
  if (!first.key) return 'the write has no Idempotency-Key';
  if (others.some(({ key }) => key !== first.key)) return 'a retry has another Idempotency-Key';
  // The proxy has not read the body of a request that it reset.
  const read = attempts.filter(({ fault }) => fault !== 'reset');
  if (read.some(({ body }) => body !== read[0]?.body)) return 'a retry has another body';
  const early = others.findIndex((attempt, index) => isEarly(attempts[index] ?? first, attempt, index + 1));
  return early === -1 ? undefined : `retry ${early + 1} came too early`;
}

/** The client ends these attempts, which a busy proxy sees late. */
const ENDED_BY_CLIENT = new Set<Fault | undefined>(['silent', 'silent_in_body', 'slow', undefined]);

function isEarly(before: Attempt, { atMs }: Attempt, retry: number): boolean {
  if (ENDED_BY_CLIENT.has(before.fault)) return false;
  const askedMs = ASKS_TO_WAIT.has(before.fault) ? RETRY_AFTER_SECONDS * 1000 : 0;
  const waitMs = Math.max(askedMs, shortestPauseMs(retry));
  // A busy proxy sees the end of a connection late, but a client cannot see a fault before it happens.
  return atMs - (before.faultMs ?? before.atMs) < waitMs - EARLY_MS;
}

/** Returns the shortest pause before a retry. The first retry is 1. */
function shortestPauseMs(retry: number): number {
  return longestPauseMs(retry) * (1 - RETRIES.pause.jitter);
}

export function longestPauseMs(retry: number): number {
  const { first_seconds: first, factor, longest_seconds: longest } = RETRIES.pause;
  return Math.min(longest, first * factor ** (retry - 1)) * 1000;
}
