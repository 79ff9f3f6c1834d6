import type { Caller } from '../identity/callers.js';
import { ApiError } from '../errors/errors.js';

/**
 * Limits how many of a pool's connections one courier and one tenant may use (decision 0030), so that slow queries of one
 * courier or tenant leave connections for the others. A transaction acquires its share before it takes a connection.
 */
export type ConnectionShares = {
  /** Takes a part of the caller's share, for one connection. @throws ApiError overloaded when none became free in time */
  acquire(caller: Caller): Promise<Permit>;
  /** Runs the work within the caller's share. @throws ApiError overloaded, as `acquire` */
  run<Result>(caller: Caller, work: () => Promise<Result>): Promise<Result>;
  /** Records the courier of an API key, so that all of a courier's callers count against the same share. */
  recordKeyOwner(keyHash: string, courierId: string): void;
  /** Returns the number of transactions that wait for their share. */
  countWaiting(): number;
  /** Returns the number of transactions since the process began. */
  countStarted(): number;
  /** Calls `record` with the waiting time of every transaction that starts from now on. */
  recordWaits(record: (waitedMs: number) => void): void;
};

/** A part of a caller's share. */
type Permit = {
  /** Gives it back. @param failure what the work failed with, if it did */
  release(failure?: unknown): void;
};

export type ConnectionShareOptions = {
  /** The size of the pool. */
  size: number;
  /** Returns the number of tenants. A single tenant may use the whole pool. */
  countTenants: () => Promise<number>;
  /** Whether work failed because the database could not be reached. */
  isAway: (error: unknown) => boolean;
};

const COURIER_SHARE = 0.4;
const TENANT_SHARE = 0.8;
/** Rejects what waits if none of the caller's transactions has ended for this time, as when all wait for a lock. */
const STALLED_MS = 2_000;
/** Together with a second transaction of the same request, the wait is within the 30 seconds that clients wait. */
const MAX_WAIT_MS = 14_000;
/** Bounds the memory of waiting requests. */
const MAX_WAITING = 1_000;
const RETRY_AFTER_SECONDS = 2;
const RECOUNT_MS = 60_000;
const MAX_KNOWN_KEYS = 10_000;

/** `courier` is undefined for staff and for the service itself, which only have their tenant's limit. */
type ShareRequest = { tenant: string; courier: string | undefined; isSystem: boolean };
type Waiter = { request: ShareRequest; start(): void };
/** What waits under one key, and when a transaction of the key last ended in a way that shows that the database works. */
type Queue = { waiters: Waiter[]; progressAtMs: number };

export function makeConnectionShares({
  size,
  countTenants,
  isAway,
}: ConnectionShareOptions): ConnectionShares {
  const courierLimit = Math.max(1, Math.floor(size * COURIER_SHARE));
  const used = new Map<string, number>();
  // Keyed by courier, or by tenant for staff. The service itself has a queue of its own in each tenant, so that staff do not wait
  // behind a flood of logins. Insertion order is the order in which keys are served.
  const queues = new Map<string, Queue>();
  const keyOwners = new Map<string, string>();
  const tenants = cacheCount(countTenants);
  let totalInUse = 0;
  let started = 0;
  let recordWait: (waitedMs: number) => void = () => undefined;

  const usage = (key: string) => used.get(key) ?? 0;

  function shareRequestOf(caller: Caller): ShareRequest {
    const tenant = caller.tenantId;
    const isSystem = caller.kind === 'system';
    if (isSystem) return { tenant, isSystem, courier: undefined };
    if (caller.kind === 'user') return { tenant, isSystem, courier: caller.courierId ?? undefined };
    return { tenant, isSystem, courier: keyOwners.get(caller.keyHash) ?? caller.keyHash };
  }

  function isFree({ tenant, courier }: ShareRequest): boolean {
    if (totalInUse >= size) return false;
    if (courier !== undefined && usage(courier) >= courierLimit) return false;
    const tenantLimit = tenants.current() === 1 ? size : Math.max(1, Math.floor(size * TENANT_SHARE));
    return usage(tenant) < tenantLimit;
  }

  function add(key: string, step: 1 | -1): void {
    const sum = usage(key) + step;
    if (sum === 0) used.delete(key);
    else used.set(key, sum);
  }

  function start(request: ShareRequest): void {
    started += 1;
    adjustUsage(request, 1);
  }

  function adjustUsage({ tenant, courier }: ShareRequest, step: 1 | -1): void {
    totalInUse += step;
    add(tenant, step);
    if (courier !== undefined) add(courier, step);
  }

  /** Starts the next waiter within its limits. One connection became free, so at most one waiter starts. */
  function startNext(): void {
    for (const [key, queue] of queues) {
      const [first] = queue.waiters;
      if (!first || !isFree(first.request)) continue;
      queue.waiters.shift();
      queues.delete(key);
      if (queue.waiters.length > 0) queues.set(key, queue);
      first.start();
      return;
    }
  }

  function remove(key: string, queue: Queue, waiter: Waiter): void {
    queue.waiters = queue.waiters.filter((other) => other !== waiter);
    if (queue.waiters.length === 0 && queues.get(key) === queue) queues.delete(key);
  }

  /** Waits while transactions of the key end. A fixed time would reject the last of many that are served one after the other. */
  function wait(request: ShareRequest, key: string): Promise<void> {
    const queue = queues.get(key) ?? { waiters: [], progressAtMs: 0 };
    if (queue.waiters.length >= MAX_WAITING) return Promise.reject(overloaded());
    queues.set(key, queue);
    const sinceMs = performance.now();
    const remainingMs = () =>
      Math.min(Math.max(sinceMs, queue.progressAtMs) + STALLED_MS, sinceMs + MAX_WAIT_MS) - performance.now();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        request,
        start() {
          clearTimeout(timer);
          start(request);
          resolve();
        },
      };
      const rejectIfLate = (): void => {
        const leftMs = remainingMs();
        if (leftMs > 0) {
          timer = setTimeout(rejectIfLate, leftMs);
          return;
        }
        remove(key, queue, waiter);
        reject(overloaded());
      };
      let timer = setTimeout(rejectIfLate, STALLED_MS);
      queue.waiters.push(waiter);
    });
  }

  function noteProgress(key: string): void {
    const queue = queues.get(key);
    if (queue) queue.progressAtMs = performance.now();
  }

  async function acquire(caller: Caller): Promise<Permit> {
    const request = shareRequestOf(caller);
    const key = request.courier ?? (request.isSystem ? `${request.tenant} system` : request.tenant);
    if (queues.has(key) || !isFree(request)) {
      const startedMs = performance.now();
      await wait(request, key).finally(() => recordWait(performance.now() - startedMs));
    } else {
      start(request);
      recordWait(0);
    }
    return {
      release(failure) {
        // A refused request is progress too. One that found no database is not: what waits then fails soon.
        if (failure === undefined || !isAway(failure)) noteProgress(key);
        adjustUsage(request, -1);
        startNext();
      },
    };
  }

  return {
    acquire,
    async run(caller, work) {
      const permit = await acquire(caller);
      try {
        const result = await work();
        permit.release();
        return result;
      } catch (error) {
        permit.release(error);
        throw error;
      }
    },
    recordKeyOwner(keyHash, courierId) {
      if (keyOwners.get(keyHash) === courierId) return;
      // Couriers replace their keys: bound the map, which still contains the old ones.
      if (keyOwners.size >= MAX_KNOWN_KEYS) keyOwners.clear();
      keyOwners.set(keyHash, courierId);
    },
    countWaiting: () => [...queues.values()].reduce((sum, { waiters }) => sum + waiters.length, 0),
    countStarted: () => started,
    recordWaits(record) {
      recordWait = record;
    },
  };
}

const overloaded = () => new ApiError('overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS });

/** Caches a number and refreshes it in the background. Until the first read it returns 2, the stricter assumption. */
function cacheCount(read: () => Promise<number>): { current(): number } {
  let count = 2;
  let readAtMs = -Infinity;
  return {
    current() {
      const now = performance.now();
      if (now - readAtMs > RECOUNT_MS) {
        readAtMs = now;
        // If the database is unavailable, the last count remains valid.
        read().then(
          (fresh) => (count = fresh),
          () => undefined,
        );
      }
      return count;
    },
  };
}
