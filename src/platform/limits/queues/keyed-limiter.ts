// Our own: p-queue and bottleneck have neither round-robin between keys nor a bounded queue that drops a task of the key with most tasks.
import { ApiError } from '../../errors/errors.js';
import { findReplaced, type WaitingCall as Call } from './replaced-call.js';
import { makeTurns, type Turns } from './turns.js';

export type KeyedLimiter = {
  /**
   * Runs the work as soon as the limits allow it.
   *
   * @param caller who calls, if not the key: callers that share a key take turns
   * @throws ApiError overloaded when it could not start in time
   */
  run<Result>(key: string, work: (giveWay: GiveWay) => Promise<Result>, caller?: string): Promise<Result>;
  /** Whether a call with this key would run or wait, instead of being rejected. */
  hasSpace(key: string): boolean;
  /** For callers that have something to do before they wait. @throws ApiError overloaded if the queue is full for this key */
  assertSpace(key: string): void;
};

/**
 * To be awaited between the pieces of a work, where it holds nothing that others need. Other keys and other callers of the key run
 * first, further calls of the same caller do not. It never fails, because a part of the work is done.
 */
export type GiveWay = () => Promise<void>;

export type KeyedLimiterOptions = {
  /** The number of calls that run at the same time. */
  concurrency: number;
  /** The number of calls that may wait. */
  maxWaiting: number;
  maxWaitMs: number;
  /** The Retry-After of rejected calls. */
  retryAfterSeconds: number;
};

type Waiter = { start(): void };

/**
 * Limits the concurrency of expensive work in one process: at most `concurrency` calls in total and one per key, with a
 * bounded queue. Keys are served round-robin, and so are the callers of a key. When the queue is full, the newest call of the key
 * with the most waiting calls is rejected, or of the caller with the most, so that a flood of one does not reject the calls of others.
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
  const queues = new Map<string, Turns<Waiter>>();
  // Without work that has given way, which cannot be rejected.
  const calls = new Set<Call>();
  const overloaded = () => new ApiError('overloaded', { retryAfterSeconds });

  function startNext(): void {
    if (running === concurrency) return;
    for (const [key, queue] of queues) {
      if (activeKeys.has(key)) continue;
      const next = queue.takeFirst();
      moveToEnd(key, queue);
      running += 1;
      activeKeys.add(key);
      next?.start();
      return;
    }
  }

  function moveToEnd(key: string, queue: Turns<Waiter>): void {
    queues.delete(key);
    if (queue.size() > 0) queues.set(key, queue);
  }

  function release(key: string): void {
    running -= 1;
    activeKeys.delete(key);
  }

  /** Returns whether a call can wait, and the call that it would replace if the queue is full. */
  function findSpace(key: string, caller: string): { isFree: boolean; replaced?: Call | undefined } {
    if (calls.size < maxWaiting) return { isFree: true };
    const replaced = findReplaced([...calls], key, caller);
    return { isFree: replaced !== undefined, replaced };
  }

  function queueOf(key: string): Turns<Waiter> {
    const queue = queues.get(key) ?? makeTurns<Waiter>();
    queues.set(key, queue);
    return queue;
  }

  function remove(key: string, caller: string, waiter: Waiter): void {
    const queue = queueOf(key);
    queue.remove(caller, waiter);
    if (queue.size() === 0) queues.delete(key);
  }

  function acquire(key: string, caller: string): Promise<void> {
    const { isFree, replaced } = findSpace(key, caller);
    if (!isFree) return Promise.reject(overloaded());
    replaced?.reject();
    return new Promise((resolve, rejectCall) => {
      const end = () => {
        clearTimeout(timer);
        calls.delete(call);
      };
      const waiter: Waiter = {
        start() {
          end();
          resolve();
        },
      };
      const call: Call = {
        key,
        caller,
        reject() {
          end();
          remove(key, caller, waiter);
          rejectCall(overloaded());
        },
      };
      const timer = setTimeout(call.reject, maxWaitMs);
      calls.add(call);
      queueOf(key).add(caller, waiter);
      startNext();
    });
  }

  function giveWay(key: string, caller: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = queueOf(key);
      queue.addFirst(caller, { start: resolve });
      moveToEnd(key, queue);
      release(key);
      startNext();
    });
  }

  return {
    hasSpace: (key) => findSpace(key, key).isFree,
    assertSpace(key) {
      if (!findSpace(key, key).isFree) throw overloaded();
    },
    async run(key, work, caller = key) {
      await acquire(key, caller);
      try {
        return await work(() => giveWay(key, caller));
      } finally {
        release(key);
        startNext();
      }
    },
  };
}
