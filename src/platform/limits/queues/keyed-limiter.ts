// Our own: p-queue and bottleneck have neither round-robin between keys nor a bounded queue that drops a task of the key with most tasks.
import { ApiError } from '../../errors/errors.js';
import { findReplaced, type Owner, type WaitingCall as Call } from './replaced-call.js';
import { makeTenantTurns } from './tenant-turns.js';
import { makeTurns } from './turns.js';

/** Whose call it is, if not that of the key: keys of a tenant take turns, and callers of a key. A key belongs to one tenant. */
export type CallOwner = { tenant?: string; caller?: string };

export type KeyedLimiter = {
  /**
   * Runs the work as soon as the limits allow it.
   *
   * @throws ApiError overloaded when it could not start in time
   */
  run<Result>(key: string, work: (giveWay: GiveWay) => Promise<Result>, owner?: CallOwner): Promise<Result>;
  /** Whether a call with this key would run or wait, instead of being rejected. */
  hasSpace(key: string): boolean;
  /** For callers that have something to do before they wait. @throws ApiError overloaded if the queue is full for this key */
  assertSpace(key: string, owner?: CallOwner): void;
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

type Waiter = { key: string; start(): void };

/**
 * Limits the concurrency of expensive work in one process: at most `concurrency` calls in total and one per key, with a
 * bounded queue. Tenants are served round-robin, and so are the keys of a tenant and the callers of a key. When the queue is full, the
 * newest call of the tenant with the most waiting calls is rejected, or of the key, or of the caller with the most, so that a flood of
 * one does not reject the calls of others.
 */
export function makeKeyedLimiter({
  concurrency,
  maxWaiting,
  maxWaitMs,
  retryAfterSeconds,
}: KeyedLimiterOptions): KeyedLimiter {
  let running = 0;
  const activeKeys = new Set<string>();
  const queues = makeTenantTurns(() => makeTurns<Waiter>());
  // Without work that has given way, which cannot be rejected.
  const calls = new Set<Call>();
  const overloaded = () => new ApiError('overloaded', { retryAfterSeconds });

  function startNext(): void {
    if (running === concurrency) return;
    const next = queues.takeNext(
      (_queue, key) => !activeKeys.has(key),
      (queue) => queue.takeFirst(),
    );
    if (!next) return;
    running += 1;
    activeKeys.add(next.key);
    next.start();
  }

  function release(key: string): void {
    running -= 1;
    activeKeys.delete(key);
  }

  /** Returns whether a call can wait, and the call that it would replace if the queue is full. */
  function findSpace(owner: Owner): { isFree: boolean; replaced?: Call | undefined } {
    if (calls.size < maxWaiting) return { isFree: true };
    const replaced = findReplaced([...calls], owner);
    return { isFree: replaced !== undefined, replaced };
  }

  function acquire(owner: Owner): Promise<void> {
    const { tenant, key, caller } = owner;
    const { isFree, replaced } = findSpace(owner);
    if (!isFree) return Promise.reject(overloaded());
    replaced?.reject();
    return new Promise((resolve, rejectCall) => {
      const end = () => {
        clearTimeout(timer);
        calls.delete(call);
      };
      const waiter: Waiter = {
        key,
        start() {
          end();
          resolve();
        },
      };
      const call: Call = {
        ...owner,
        reject() {
          end();
          queues.find(tenant, key)?.remove(caller, waiter);
          queues.removeEmpty(tenant, key);
          rejectCall(overloaded());
        },
      };
      const timer = setTimeout(call.reject, maxWaitMs);
      calls.add(call);
      queues.open(tenant, key).add(caller, waiter);
      startNext();
    });
  }

  function giveWay({ tenant, key, caller }: Owner): Promise<void> {
    return new Promise((resolve) => {
      queues.open(tenant, key).addFirst(caller, { key, start: resolve });
      queues.moveToEnd(tenant, key);
      release(key);
      startNext();
    });
  }

  return {
    hasSpace: (key) => findSpace(ownerOf(key)).isFree,
    assertSpace(key, owner) {
      if (!findSpace(ownerOf(key, owner)).isFree) throw overloaded();
    },
    async run(key, work, given) {
      const owner = ownerOf(key, given);
      await acquire(owner);
      try {
        return await work(() => giveWay(owner));
      } finally {
        release(key);
        startNext();
      }
    },
  };
}

const ownerOf = (key: string, { tenant = key, caller = key }: CallOwner = {}): Owner => ({
  tenant,
  key,
  caller,
});
