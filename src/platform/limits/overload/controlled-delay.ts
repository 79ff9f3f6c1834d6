// Our own: npm has no well-kept CoDel. @fastify/under-pressure refuses everybody at random by the delay of the event loop.
import { LRUCache } from 'lru-cache';

/**
 * Controlled delay (CoDel, as Facebook uses it for requests, decision 0107). A burst is served whole. A standing queue is one that
 * does not empty: what arrives at it waits for 50 ms at most, because a longer wait would only move the delay to all.
 */
export type ControlledDelay = {
  /** Whether the queue of this key stands. */
  isStanding(key: string): boolean;
  noteArrival(key: string): void;
  /** Whether what arrives at the standing queue of this key may be refused: more has arrived than a burst has. */
  mayRefuse(key: string): boolean;
  noteStart(key: string, waitedMs: number): void;
  /** The queue of this key is empty. */
  noteEmpty(key: string): void;
  /** @returns whether requests of this key have been refused for so long that older ones have no prospect of a turn */
  noteRefusal(key: string): boolean;
  countRefused(): number;
  /** Whether a request of any key has been refused in the last second. */
  isRefusing(): boolean;
  countStanding(): number;
};

/** The longest wait of a request that arrives at a standing queue. */
export const TARGET_MS = 50;
/** The longest wait of the few requests that must wait so that freed connections are used. */
export const KEPT_MS = 2 * TARGET_MS;
/** If the next request of a standing queue has waited for this time already, another one is refused at once. */
export const FULL_MS = TARGET_MS / 2;
/** A queue stands if every request that leaves it has waited longer than the target for this time. */
const INTERVAL_MS = 2_000;
/**
 * So many requests that are sent at once are all served (decision 0081). They arrive one after the other if the machine is busy, because
 * Node accepts one connection in each turn of its event loop.
 */
export const BURST = 300;
/** A queue that refuses stands until it has refused nothing for this time. */
const CALM_MS = 1_000;
/** What arrived before the queue stood is refused if newer requests have been refused for this time. */
const HOPELESS_MS = 500;
const MAX_KEYS = 10_000;

/** Since when every request that left a queue had waited too long, and how many have arrived at it since. */
type Late = { sinceMs: number; arrived: number };
type Refusals = { sinceMs: number; atMs: number };

export function makeControlledDelay(): ControlledDelay {
  const kept = { max: MAX_KEYS, ttl: 2 * INTERVAL_MS };
  const late = new LRUCache<string, Late>(kept);
  const refusals = new LRUCache<string, Refusals>(kept);
  let refusedAtMs = -Infinity;
  let refused = 0;

  const hasRefused = (key: string) => performance.now() - (refusals.get(key)?.atMs ?? -Infinity) < CALM_MS;

  const isStanding = (key: string) =>
    hasRefused(key) || performance.now() - (late.get(key)?.sinceMs ?? Infinity) >= INTERVAL_MS;

  return {
    isStanding,
    noteArrival(key) {
      const noted = late.get(key);
      if (noted) noted.arrived += 1;
    },
    mayRefuse: (key) => hasRefused(key) || (isStanding(key) && (late.get(key)?.arrived ?? 0) > BURST),
    noteStart(key, waitedMs) {
      // What arrives at a standing queue is served first, so that it starts in time. That does not end the state.
      if (waitedMs > TARGET_MS || isStanding(key))
        late.set(key, late.get(key) ?? { sinceMs: performance.now(), arrived: 0 });
      else late.delete(key);
    },
    noteEmpty: (key) => void late.delete(key),
    noteRefusal(key) {
      refusedAtMs = performance.now();
      refused += 1;
      const { sinceMs } = note(refusals, key, refusedAtMs);
      return refusedAtMs - sinceMs >= HOPELESS_MS;
    },
    countRefused: () => refused,
    isRefusing: () => performance.now() - refusedAtMs < CALM_MS,
    countStanding: () => new Set([...late.keys(), ...refusals.keys()].filter(isStanding)).size,
  };
}

function note(refusals: LRUCache<string, Refusals>, key: string, nowMs: number): Refusals {
  const last = refusals.get(key);
  const isContinued = last !== undefined && nowMs - last.atMs < CALM_MS;
  const noted = { sinceMs: isContinued ? last.sinceMs : nowMs, atMs: nowMs };
  refusals.set(key, noted);
  return noted;
}
