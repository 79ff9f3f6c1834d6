import { availableParallelism } from 'node:os';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { ApiError } from '../errors/errors.js';
import { networkOf } from '../values/network-address.js';
import { makeKeyedLimiter } from '../concurrency/keyed-limiter.js';

export type LoginLimiter = {
  /** @throws ApiError too_many_attempts when too many sign-ins from the address have failed */
  assertMayTry(tenantId: string, address: string): Promise<void>;
  countFailure(tenantId: string, address: string): Promise<void>;
  /**
   * Runs a password attempt when a place is free: one at a time for each user name, in turn between names.
   *
   * @throws ApiError overloaded when no place came free in time
   */
  withLimit<Result>(tenantId: string, username: string, attempt: () => Promise<Result>): Promise<Result>;
};

const FAILURES_PER_ADDRESS = 50;
const FAILURE_WINDOW_S = 15 * 60;

/** One core is left to everything else: a hash takes one whole for a fifth of a second. */
const DEFAULT_PLACES = Math.max(1, availableParallelism() - 1);
const QUEUE = { maxWaiting: 16, maxWaitMs: 3_000, retryAfterSeconds: 2 };

/**
 * What sign-in shares within a process; what all replicas must agree on is in throttle.ts.
 *
 * @param places how many password attempts run at once
 */
export function makeLoginLimiter(places = DEFAULT_PLACES): LoginLimiter {
  const failures = new RateLimiterMemory({ points: FAILURES_PER_ADDRESS, duration: FAILURE_WINDOW_S });
  const turns = makeKeyedLimiter({ places, ...QUEUE });

  return {
    async assertMayTry(tenantId, address) {
      const counted = await failures.get(subjectOf(tenantId, address));
      if (!counted || counted.consumedPoints < FAILURES_PER_ADDRESS) return;
      throw new ApiError('too_many_attempts', {
        retryAfterSeconds: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
      });
    },

    async countFailure(tenantId, address) {
      await failures.penalty(subjectOf(tenantId, address));
    },

    withLimit: (tenantId, username, attempt) => turns.run(`${tenantId} ${username.toLowerCase()}`, attempt),
  };
}

const subjectOf = (tenantId: string, address: string) => `${tenantId} ${networkOf(address)}`;
