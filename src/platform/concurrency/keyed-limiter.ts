// Our own: p-queue and bottleneck have no fair turns between keys and no bounded queue that drops a task of the key with most tasks.
import { ApiError } from '../errors/errors.js';

export type KeyedLimiter = {
  /** Runs the work when a place is free. @throws ApiError overloaded when none came free in time */
  run<Result>(lane: string, work: () => Promise<Result>): Promise<Result>;
};

export type KeyedLimiterOptions = {
  /** How many run at once. */
  places: number;
  /** How many wait before them. */
  maxWaiting: number;
  maxWaitMs: number;
  /** What those who get no place are told to wait. */
  retryAfterSeconds: number;
};

type Waiter = { start(): void; refuse(): void };

/**
 * Bounds how much of some costly work a process does at once: `places` of it, and a short queue before them. One at a
 * time for each lane. Lanes take turns, and a full queue gives up the newest of the lane that waits most often, so
 * that a flood on one lane crowds out itself alone.
 */
export function makeKeyedLimiter({
  places,
  maxWaiting,
  maxWaitMs,
  retryAfterSeconds,
}: KeyedLimiterOptions): KeyedLimiter {
  let taken = 0;
  const busy = new Set<string>();
  // in the order of their turns
  const lanes = new Map<string, Waiter[]>();
  const overloaded = () => new ApiError('overloaded', undefined, { retryAfterSeconds });

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
    if (all.reduce((sum, waiters) => sum + waiters.length, 0) < maxWaiting) return true;
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

  function take(lane: string): Promise<void> {
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
      const timer = setTimeout(waiter.refuse, maxWaitMs);
      lanes.set(lane, [...(lanes.get(lane) ?? []), waiter]);
      admitNext();
    });
  }

  return {
    async run(lane, work) {
      await take(lane);
      try {
        return await work();
      } finally {
        taken -= 1;
        busy.delete(lane);
        admitNext();
      }
    },
  };
}
