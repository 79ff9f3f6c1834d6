import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimit } from '../headers/rate-limits.js';
import {
  makeKeyedLimiter,
  type CallOwner,
  type KeyedLimiter,
  type KeyedLimiterOptions,
} from '../queues/keyed-limiter.js';
import { makeKnownNetworks, type NotedLogin, type TenantNetwork } from './known-networks.js';
import { makeAmounts, type AmountLimits, type Holder } from './amounts.js';

/** The limits that hold for all processes of a server together (decision 0099). */
export type SharedLimits = {
  /** Counts per key. The name of the policy identifies the limit. */
  rateLimiter(limit: RateLimit): RateLimiter;
  /** Limits the concurrency of expensive work. */
  keyedLimiter(name: string, options: KeyedLimiterOptions): SharedKeyedLimiter;
  allotment(name: string, limits: AmountLimits): Allotment;
  knownNetworks: SharedKnownNetworks;
};

/** The networks from which users have logged in lately, at any process. */
export type SharedKnownNetworks = {
  has(network: TenantNetwork): Promise<boolean>;
  note(login: NotedLogin): void;
};

export type RateLimiter = {
  /** Returns null if nothing is counted for the key. */
  get(key: string): Promise<Counted | null>;
  /** Counts once, unless the key has no points left. */
  consume(key: string): Promise<Counted>;
  /** Counts `points`, also above the limit. */
  penalty(key: string, points: number): Promise<Counted>;
};

export type Counted = {
  /** Whether the key had no points left. */
  isRefused: boolean;
  consumedPoints: number;
  remainingPoints: number;
  msBeforeNext: number;
};

/** A limiter of all processes together: its tenants, their keys, and the callers of a key take turns, whichever process they came to. */
export type SharedKeyedLimiter = Pick<KeyedLimiter, 'run'> & {
  /** For callers that have something to do before they wait. @throws ApiError overloaded if the queue is full for this key */
  assertSpace(key: string, owner?: CallOwner): Promise<void>;
};

/** Amounts that the holders of all processes have together. */
export type Allotment = {
  /** Takes an amount. Returns false, and takes nothing, if it would exceed a limit. */
  take(holder: Holder, amount: number): Promise<boolean>;
  /** Gives back an amount that was taken. */
  give(holder: Holder, amount: number): void;
};

/** Returns the limits of a server of one process. In a server of several, the primary process has them. */
export const makeOwnLimits = (): SharedLimits => ({
  knownNetworks: makeOwnKnownNetworks(),
  rateLimiter: makeRateLimiter,
  keyedLimiter(_name, options) {
    const limiter = makeKeyedLimiter(options);
    return { run: limiter.run, assertSpace: async (key, owner) => limiter.assertSpace(key, owner) };
  },
  allotment(_name, limits) {
    const amounts = makeAmounts(limits);
    return { take: async (holder, amount) => amounts.take(holder, amount), give: amounts.give };
  },
});

function makeOwnKnownNetworks(): SharedKnownNetworks {
  const known = makeKnownNetworks();
  return { has: async (network) => known.has(network), note: known.note };
}

function makeRateLimiter({ quota, windowSeconds }: RateLimit): RateLimiter {
  const limiter = new RateLimiterMemory({ points: quota, duration: windowSeconds });
  return {
    async get(key) {
      const counted = await limiter.get(key);
      return counted && toCounted(counted, false);
    },
    consume: (key) =>
      limiter.consume(key).then(
        (counted) => toCounted(counted, false),
        (refusal: unknown) => {
          if (!(refusal instanceof RateLimiterRes)) throw refusal;
          return toCounted(refusal, true);
        },
      ),
    penalty: async (key, points) => toCounted(await limiter.penalty(key, points), false),
  };
}

const toCounted = (
  { consumedPoints, remainingPoints, msBeforeNext }: RateLimiterRes,
  isRefused: boolean,
): Counted => ({ isRefused, consumedPoints, remainingPoints, msBeforeNext });
