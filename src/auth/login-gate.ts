import { availableParallelism } from 'node:os';
import { isIPv6 } from 'node:net';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { Fault } from '../errors.js';

export type LoginGate = {
  /** @throws Fault too_many_attempts when too many sign-ins from the address have failed */
  assertMayTry(tenantId: string, address: string): Promise<void>;
  countFailure(tenantId: string, address: string): Promise<void>;
  /**
   * Runs a password attempt when a place is free: one at a time for each user name, in turn between names.
   *
   * @throws Fault overloaded when no place came free in time
   */
  inTurn<Result>(tenantId: string, username: string, attempt: () => Promise<Result>): Promise<Result>;
};

const FAILURES_PER_ADDRESS = 50;
const FAILURE_WINDOW_S = 15 * 60;

/** One core is left to everything else: a hash takes one whole for a fifth of a second. */
const DEFAULT_PLACES = Math.max(1, availableParallelism() - 1);
const MAX_WAITING = 16;
const MAX_WAIT_MS = 3_000;

/**
 * What sign-in shares within a process; what all replicas must agree on is in throttle.ts.
 *
 * @param places how many password attempts run at once
 */
export function makeLoginGate(places = DEFAULT_PLACES): LoginGate {
  const failures = new RateLimiterMemory({ points: FAILURES_PER_ADDRESS, duration: FAILURE_WINDOW_S });
  const turns = makeTurns(places);

  return {
    async assertMayTry(tenantId, address) {
      const counted = await failures.get(subjectOf(tenantId, address));
      if (!counted || counted.consumedPoints < FAILURES_PER_ADDRESS) return;
      throw new Fault('too_many_attempts', undefined, {
        retryAfterSeconds: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
      });
    },

    async countFailure(tenantId, address) {
      await failures.penalty(subjectOf(tenantId, address));
    },

    async inTurn(tenantId, username, attempt) {
      const lane = `${tenantId} ${username.toLowerCase()}`;
      await turns.take(lane);
      try {
        return await attempt();
      } finally {
        turns.giveBack(lane);
      }
    },
  };
}

const subjectOf = (tenantId: string, address: string) => `${tenantId} ${networkOf(address)}`;

/** An IPv6 subscriber has a whole /64 to send from, so that it counts as one address. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const start = head.split(':');
  const end = tail === undefined ? [] : tail.split(':');
  const zeros = Array<string>(8 - start.length - end.length).fill('0');
  const groups = [...start, ...zeros, ...end].slice(0, 4);
  return groups.map((group) => parseInt(group || '0', 16).toString(16)).join(':');
}

type Waiter = { start(): void; refuse(): void };

/**
 * `places` attempts at once and a short queue before them. Names take turns, and a full queue gives up the newest
 * of the name that waits most often, so that a flood on one name crowds out itself alone.
 */
function makeTurns(places: number) {
  let taken = 0;
  const busy = new Set<string>();
  // in the order of their turns
  const lanes = new Map<string, Waiter[]>();

  function admitNext(): void {
    if (taken === places) return;
    for (const [lane, waiters] of lanes) {
      const [next, ...rest] = waiters;
      if (!next || busy.has(lane)) continue;
      lanes.delete(lane);
      if (rest.length > 0) lanes.set(lane, rest);
      taken += 1;
      busy.add(lane);
      next.start();
      return;
    }
  }

  function makeRoomFor(lane: string): boolean {
    const all = [...lanes.values()];
    if (all.reduce((sum, waiters) => sum + waiters.length, 0) < MAX_WAITING) return true;
    const longest = all.reduce((most, waiters) => (waiters.length > most.length ? waiters : most));
    if (longest.length <= (lanes.get(lane)?.length ?? 0) + 1) return false;
    longest.at(-1)?.refuse();
    return true;
  }

  function leave(lane: string, waiter: Waiter): void {
    const rest = lanes.get(lane)?.filter((other) => other !== waiter) ?? [];
    if (rest.length > 0) lanes.set(lane, rest);
    else lanes.delete(lane);
  }

  return {
    take(lane: string): Promise<void> {
      if (!makeRoomFor(lane)) return Promise.reject(overloaded());
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          start() {
            clearTimeout(timer);
            resolve();
          },
          refuse() {
            clearTimeout(timer);
            leave(lane, waiter);
            reject(overloaded());
          },
        };
        const timer = setTimeout(waiter.refuse, MAX_WAIT_MS);
        lanes.set(lane, [...(lanes.get(lane) ?? []), waiter]);
        admitNext();
      });
    },

    giveBack(lane: string): void {
      taken -= 1;
      busy.delete(lane);
      admitNext();
    },
  };
}

const overloaded = () => new Fault('overloaded', undefined, { retryAfterSeconds: 2 });
