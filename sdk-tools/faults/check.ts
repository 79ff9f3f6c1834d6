import { RETRIES } from '../retries.js';
import { MAX_LINES_IN_TIME, type Fault } from './faults.js';
import type { Attempt } from './proxy.js';

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

/** Returns what is wrong with the requests of a batch on a slow line, or undefined: their sizes and keys, and what arrived. */
export function faultOfBatch(attempts: Attempt[], expected: number): string | undefined {
  const sent = attempts.map(({ key = '', body }) => ({ key, lines: body.split('\n').slice(0, -1) }));
  if (sent.some(({ lines }) => lines.length > RETRIES.batch_lines)) return 'a request has too many lines';
  if (new Set(sent.map(({ key }) => key)).size !== sent.length || sent.some(({ key }) => key === ''))
    return 'two requests with different lines have the same Idempotency-Key';
  const late = sent.findIndex(({ lines }, index) => isWhole(lines, sent[index + 1]?.lines));
  if (late !== -1)
    return `request ${late + 2} is not half of the one before it, which did not arrive in time`;
  const arrived = sent.flatMap(({ lines }) => (lines.length > MAX_LINES_IN_TIME ? [] : lines));
  return arrived.length === expected && new Set(arrived).size === expected
    ? undefined
    : `${arrived.length} lines arrived, of which ${new Set(arrived).size} differ`;
}

const isWhole = (late: string[], next: string[] | undefined): boolean =>
  late.length > MAX_LINES_IN_TIME && next !== undefined && next.length !== Math.ceil(late.length / 2);

/** The client ends these attempts, which a busy proxy sees late. */
const ENDED_BY_CLIENT = new Set<Fault | undefined>(['silent', 'silent_in_body', 'slow', undefined]);

function isEarly(before: Attempt, { atMs, atDate }: Attempt, retry: number): boolean {
  if (ENDED_BY_CLIENT.has(before.fault)) return false;
  const { retryAfter = '0' } = before;
  const isDate = Number.isNaN(Number(retryAfter));
  // A date is a point in time. How long the client waits for it depends on when a busy machine lets it begin.
  if (isDate && atDate.getTime() < Date.parse(retryAfter)) return true;
  const waitMs = Math.max(isDate ? 0 : Number(retryAfter) * 1000, shortestPauseMs(retry));
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
