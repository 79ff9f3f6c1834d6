import type { Caller } from '../../identity/callers.js';
import { ApiError } from '../../errors/errors.js';

/**
 * Shares a pool's connections among couriers and tenants (decision 0030). A transaction takes a seat before it takes
 * its connection, so that slow queries of one courier, or of one tenant, leave connections for everybody else.
 */
export type ConnectionShares = {
  /** Runs the work on a seat. @throws ApiError unavailable when none came free in time, as for an exhausted pool */
  run<Result>(caller: Caller, work: () => Promise<Result>): Promise<Result>;
  /** Notes whose key this is, so that all of a courier's callers share its seats. */
  learnKey(keyHash: string, courierId: string): void;
};

export type ConnectionShareOptions = {
  /** The size of the pool. */
  size: number;
  /** How many tenants the installation has; a single one may use the whole pool. */
  countTenants: () => Promise<number>;
};

const COURIER_SHARE = 0.4;
const TENANT_SHARE = 0.8;
/** As long as the pool itself lets a request wait. */
const MAX_WAIT_MS = 2_000;
const RETRY_AFTER_SECONDS = 2;
const RECOUNT_MS = 60_000;
const MAX_KNOWN_KEYS = 10_000;

/** `courier` is absent for staff and for the service itself, which are bound by their tenant alone. */
type Seeker = { tenant: string; courier: string | undefined };
type Waiter = { seeker: Seeker; start(): void };

export function makeConnectionShares({ size, countTenants }: ConnectionShareOptions): ConnectionShares {
  const courierSeats = Math.max(1, Math.floor(size * COURIER_SHARE));
  const used = new Map<string, number>();
  // by courier, or by tenant for staff; in the order of their turns
  const queues = new Map<string, Waiter[]>();
  const keyOwners = new Map<string, string>();
  const tenants = keepCount(countTenants);
  let taken = 0;

  const count = (key: string) => used.get(key) ?? 0;

  function seekerOf(caller: Caller): Seeker {
    const tenant = caller.tenantId;
    if (caller.kind === 'system') return { tenant, courier: undefined };
    if (caller.kind === 'user') return { tenant, courier: caller.courierId ?? undefined };
    return { tenant, courier: keyOwners.get(caller.keyHash) ?? caller.keyHash };
  }

  function isFree({ tenant, courier }: Seeker): boolean {
    if (taken >= size) return false;
    if (courier !== undefined && count(courier) >= courierSeats) return false;
    const tenantSeats = tenants.current() === 1 ? size : Math.max(1, Math.floor(size * TENANT_SHARE));
    return count(tenant) < tenantSeats;
  }

  function add(key: string, step: 1 | -1): void {
    const sum = count(key) + step;
    if (sum === 0) used.delete(key);
    else used.set(key, sum);
  }

  function occupy({ tenant, courier }: Seeker, step: 1 | -1): void {
    taken += step;
    add(tenant, step);
    if (courier !== undefined) add(courier, step);
  }

  /** Seats the next in turn who may sit. One seat came free, so that one at most may. */
  function seatNext(): void {
    for (const [name, queue] of queues) {
      const [first] = queue;
      if (!first || !isFree(first.seeker)) continue;
      queue.shift();
      queues.delete(name);
      if (queue.length > 0) queues.set(name, queue);
      first.start();
      return;
    }
  }

  function wait(seeker: Seeker, name: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        seeker,
        start() {
          clearTimeout(timer);
          occupy(seeker, 1);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        const queue = queues.get(name)?.filter((other) => other !== waiter) ?? [];
        if (queue.length > 0) queues.set(name, queue);
        else queues.delete(name);
        reject(new ApiError('unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS }));
      }, MAX_WAIT_MS);
      const queue = queues.get(name);
      if (queue) queue.push(waiter);
      else queues.set(name, [waiter]);
    });
  }

  return {
    async run(caller, work) {
      const seeker = seekerOf(caller);
      const name = seeker.courier ?? seeker.tenant;
      if (queues.has(name) || !isFree(seeker)) await wait(seeker, name);
      else occupy(seeker, 1);
      try {
        return await work();
      } finally {
        occupy(seeker, -1);
        seatNext();
      }
    },
    learnKey(keyHash, courierId) {
      if (keyOwners.get(keyHash) === courierId) return;
      // keys are replaced: the map must not grow with those that are gone
      if (keyOwners.size >= MAX_KNOWN_KEYS) keyOwners.clear();
      keyOwners.set(keyHash, courierId);
    },
  };
}

/** A number that is read again now and then, in the background; several until the first reading. */
function keepCount(read: () => Promise<number>): { current(): number } {
  let count = 2;
  let readAtMs = -Infinity;
  return {
    current() {
      const now = performance.now();
      if (now - readAtMs > RECOUNT_MS) {
        readAtMs = now;
        // the database is away: the last count stands
        read().then(
          (fresh) => (count = fresh),
          () => undefined,
        );
      }
      return count;
    },
  };
}
