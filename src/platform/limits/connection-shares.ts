import type { Caller, KeyCaller, TokenCaller, UserCaller } from '../identity/callers.js';
import { networksOf } from '../values/network-address.js';
import { TENANT_SHARE } from './shared/amounts.js';
import { makeControlledDelay, type ControlledDelay } from './overload/controlled-delay.js';
import { makeTenantLines } from './overload/tenant-lines.js';
import { flowKey } from './overload/waiting-line.js';

/**
 * Limits how many of a pool's connections one courier and one tenant may use (decision 0030), so that slow queries of one
 * courier or tenant leave connections for the others. A transaction acquires its share before it takes a connection.
 */
export type ConnectionShares = {
  /**
   * Takes a part of the caller's share, for one connection.
   *
   * @param isContinued whether the request has had a transaction, which a refusal would waste
   * @throws ApiError overloaded when none became free in time
   */
  acquire(caller: Caller, isContinued?: boolean): Promise<Permit>;
  /** Runs the work within the caller's share. @throws ApiError overloaded, as `acquire` */
  run<Result>(caller: Caller, work: () => Promise<Result>, isContinued?: boolean): Promise<Result>;
  /** Refuses a request before it costs anything, if it could not start in time. @throws ApiError overloaded */
  assertMayWait(caller: Caller): void;
  /** Adds another queue of requests that `assertMayWait` asks. */
  addGate(gate: Gate): void;
  /** Undefined if nothing is refused because a queue stands. */
  delay: ControlledDelay | undefined;
  /**
   * Records that the database has checked an API key or a service token, and its courier, so that all of a courier's callers count
   * against the same share. The courier of a token of the staff is null. At another tenant it stays unknown.
   */
  recordKeyOwner(caller: Keyed, courierId: string | null): void;
  /** Forgets an API key or a service token that the database refuses. It counts for its network again. */
  forgetKey(caller: Keyed): void;
  /** Whether the caller's credential has been checked. An API key or a service token that nobody has checked may be invented. */
  isKnown(caller: Caller): boolean;
  /** Undefined until the courier of the key is recorded. */
  courierOfKey(caller: Keyed): string | undefined;
  /** Returns the number of transactions that wait for their share. */
  countWaiting(): number;
  /** Returns the number of transactions since the process began. */
  countStarted(): number;
  /** Calls `record` with the waiting time of every transaction that starts from now on. */
  recordWaits(record: (waitedMs: number) => void): void;
};

/** An API key or a service token at the tenant whose host it was sent to. Clients can send the key of one tenant to another. */
type Keyed = Pick<KeyCaller | TokenCaller, 'tenantId' | 'keyHash'>;

export type Gate = Pick<ConnectionShares, 'assertMayWait'>;

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
  /** Whether requests that arrive at a standing queue are refused soon. Jobs wait as long as they must. */
  shedsLoad?: boolean | undefined;
};

const COURIER_SHARE = 0.4;
const RECOUNT_MS = 60_000;
const MAX_KNOWN_KEYS = 10_000;

/**
 * `courier` is undefined for staff and for the service itself, which only have their tenant's limit. `key` names the queue: of the
 * courier, or of the tenant for staff. The service itself has a queue of its own in each tenant, so that staff do not wait behind a
 * flood of logins. All API keys and service tokens of a tenant that nobody has checked, which may be invented, have one queue and the
 * share of one courier. In both, the clients' blocks of networks take turns, because one line of IPv6 has 256 networks.
 */
type ShareRequest = { tenant: string; courier: string | undefined; key: string };

export function makeConnectionShares({
  size,
  countTenants,
  isAway,
  shedsLoad = false,
}: ConnectionShareOptions): ConnectionShares {
  const courierLimit = Math.max(1, Math.floor(size * COURIER_SHARE));
  const used = new Map<string, number>();
  const delay = shedsLoad ? makeControlledDelay() : undefined;
  const lines = makeTenantLines<ShareRequest>(delay, size);
  const gates = new Set<Gate>();
  const keyOwners = new Map<string, string | null>();
  const tenants = cacheCount(countTenants);
  let totalInUse = 0;
  let started = 0;
  let recordWait: (waitedMs: number) => void = () => undefined;

  const usage = (key: string) => used.get(key) ?? 0;

  function shareRequestOf(sender: Caller): ShareRequest {
    const caller = sharerOf(sender);
    const tenant = caller.tenantId;
    if (caller.kind === 'system') return { tenant, courier: undefined, key: `${tenant} system` };
    const sharer = isKnown(caller) ? courierOf(caller) : 'strangers';
    const courier = sharer === undefined ? undefined : `${tenant} ${sharer}`;
    return { tenant, courier, key: courier ?? tenant };
  }

  /** What a service token claims counts only once the database has checked it. */
  function isKnown(caller: Caller): boolean {
    if (caller.kind === 'system') return false;
    return caller.kind === 'user' || keyOwners.has(keyOf(caller));
  }

  const courierOf = (caller: UserCaller | KeyCaller): string | undefined =>
    (caller.kind === 'user' ? caller.courierId : keyOwners.get(keyOf(caller))) ?? undefined;

  function ownerOf(caller: Caller): string {
    if (caller.kind === 'user') return caller.userId;
    if (caller.kind !== 'system' && isKnown(caller)) return caller.keyHash;
    return caller.address === undefined ? '' : networksOf(caller.address).block;
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

  const countIn = ({ tenant, key }: ShareRequest) => lines.find(tenant, key)?.size() ?? 0;

  async function acquire(caller: Caller, isContinued = false): Promise<Permit> {
    const request = shareRequestOf(caller);
    const { tenant, key } = request;
    const owner = ownerOf(sharerOf(caller));
    if (countIn(request) > 0 || !isFree(request)) {
      const startedMs = performance.now();
      const arrival = { work: request, owner, isContinued };
      await lines.wait(tenant, key, arrival).finally(() => recordWait(performance.now() - startedMs));
    } else {
      start(request);
      delay?.noteEmpty(flowKey(key, owner));
      recordWait(0);
    }
    return {
      release(failure) {
        // A refused request is progress too. One that found no database is not: what waits then fails soon.
        if (failure === undefined || !isAway(failure)) lines.find(tenant, key)?.noteProgress();
        adjustUsage(request, -1);
        // One connection became free, so at most one request starts.
        const next = lines.startNext(isFree);
        if (next) start(next);
      },
    };
  }

  return {
    acquire,
    async run(caller, work, isContinued) {
      const permit = await acquire(caller, isContinued);
      try {
        const result = await work();
        permit.release();
        return result;
      } catch (error) {
        permit.release(error);
        throw error;
      }
    },
    assertMayWait(caller) {
      const { tenant, key } = shareRequestOf(caller);
      lines.find(tenant, key)?.assertMayWait(ownerOf(sharerOf(caller)));
      for (const gate of gates) gate.assertMayWait(caller);
    },
    addGate: (gate) => void gates.add(gate),
    recordKeyOwner(caller, courierId) {
      const key = keyOf(caller);
      if (keyOwners.get(key) === courierId) return;
      // Couriers replace their keys: bound the map, which still contains the old ones.
      if (keyOwners.size >= MAX_KNOWN_KEYS) keyOwners.clear();
      keyOwners.set(key, courierId);
    },
    forgetKey: (caller) => void keyOwners.delete(keyOf(caller)),
    isKnown,
    courierOfKey: (caller) => keyOwners.get(keyOf(caller)) ?? undefined,
    delay,
    countWaiting: lines.size,
    countStarted: () => started,
    recordWaits(record) {
      recordWait = record;
    },
  };
}

const keyOf = ({ tenantId, keyHash }: Keyed): string => `${tenantId} ${keyHash}`;

/** Whose share a request uses, also in the scope of the whole tenant. */
const sharerOf = (caller: Caller): Caller =>
  caller.kind === 'system' ? (caller.onBehalfOf ?? caller) : caller;

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
