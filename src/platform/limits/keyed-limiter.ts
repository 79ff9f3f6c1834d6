// Our own: p-queue and bottleneck have neither round-robin between keys nor a bounded queue that drops a task of the key with most tasks.
import { ApiError } from '../errors/errors.js';

export type KeyedLimiter = {
  /** Runs the work as soon as the limits allow it. @throws ApiError overloaded when it could not start in time */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
  /** Whether a call with this key would run or wait, instead of being rejected. */
  hasSpace(key: string): boolean;
  /** For callers that have something to do before they wait. @throws ApiError overloaded if the queue is full for this key */
  assertSpace(key: string): void;
};

export type KeyedLimiterOptions = {
  /** The number of calls that run at the same time. */
  concurrency: number;
  /** The number of calls that may wait. */
  maxWaiting: number;
  maxWaitMs: number;
  /** The Retry-After of rejected calls. */
  retryAfterSeconds: number;
};

type Waiter = { start(): void; reject(): void };

/**
 * Limits the concurrency of expensive work in one process: at most `concurrency` calls in total and one per key, with a
 * bounded queue. Keys are served round-robin. When the queue is full, the newest call of the key with the most waiting
 * calls is rejected, so that a flood under one key does not reject calls under other keys.
 */
export function makeKeyedLimiter({
  concurrency,
  maxWaiting,
  maxWaitMs,
  retryAfterSeconds,
}: KeyedLimiterOptions): KeyedLimiter {
  let running = 0;
  const activeKeys = new Set<string>();
  // Insertion order is the order in which keys are served.
  const queues = new Map<string, Waiter[]>();
  const overloaded = () => new ApiError('overloaded', { retryAfterSeconds });

  function startNext(): void {
    if (running === concurrency) return;
    for (const [key, waiters] of queues) {
      const [next, ...rest] = waiters;
      if (!next || activeKeys.has(key)) continue;
      queues.delete(key);
      if (rest.length > 0) queues.set(key, rest);
      running += 1;
      activeKeys.add(key);
      next.start();
      return;
    }
  }

  /** Returns whether a call can wait, and the call that it would replace if the queue is full. */
  function findSpace(key: string): { isFree: boolean; replaced?: Waiter | undefined } {
    const all = [...queues.values()];
    if (all.reduce((sum, waiters) => sum + waiters.length, 0) < maxWaiting) return { isFree: true };
    const longest = all.reduce((most, waiters) => (waiters.length > most.length ? waiters : most));
    const isFree = longest.length > (queues.get(key)?.length ?? 0) + 1;
    return { isFree, replaced: isFree ? longest.at(-1) : undefined };
  }

  function removeWaiter(key: string, waiter: Waiter): void {
    const rest = queues.get(key)?.filter((other) => other !== waiter) ?? [];
    if (rest.length > 0) queues.set(key, rest);
    else queues.delete(key);
  }

  function acquire(key: string): Promise<void> {
    const { isFree, replaced } = findSpace(key);
    if (!isFree) return Promise.reject(overloaded());
    replaced?.reject();
    return new Promise((resolve, rejectCall) => {
      const waiter: Waiter = {
        start() {
          clearTimeout(timer);
          resolve();
        },
        reject() {
          clearTimeout(timer);
          removeWaiter(key, waiter);
          rejectCall(overloaded());
        },
      };
      const timer = setTimeout(waiter.reject, maxWaitMs);
      queues.set(key, [...(queues.get(key) ?? []), waiter]);
      startNext();
    });
  }

  return {
    hasSpace: (key) => findSpace(key).isFree,
    assertSpace(key) {
      if (!findSpace(key).isFree) throw overloaded();
    },
    async run(key, work) {
      await acquire(key);
      try {
        return await work();
      } finally {
        running -= 1;
        activeKeys.delete(key);
        startNext();
      }
    },
  };
}
