import { availableParallelism } from 'node:os';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { ApiError } from '../errors/errors.js';
import { networkOf } from '../values/network-address.js';
import { makeKeyedLimiter } from '../concurrency/keyed-limiter.js';

export type LoginLimiter = {
  /** @throws ApiError too_many_attempts when too many logins from the address have failed */
  assertMayTry(tenantId: string, address: string): Promise<void>;
  countFailure(tenantId: string, address: string): Promise<void>;
  /**
   * Runs a password attempt within the concurrency limit: at most one per user name, round-robin between user names.
   *
   * @throws ApiError overloaded when the attempt could not start in time
   */
  withLimit<Result>(tenantId: string, username: string, attempt: () => Promise<Result>): Promise<Result>;
};

const FAILURES_PER_ADDRESS = 50;
const FAILURE_WINDOW_S = 15 * 60;

/** All cores but one, because hashing a password keeps a core busy for 0.2 s. */
const DEFAULT_CONCURRENCY = Math.max(1, availableParallelism() - 1);
const QUEUE = { maxWaiting: 16, maxWaitMs: 3_000, retryAfterSeconds: 2 };

/**
 * Limits login attempts within one process. The limits that hold across replicas are in throttle.ts.
 *
 * @param concurrency the number of password attempts that run at the same time
 */
export function makeLoginLimiter(concurrency = DEFAULT_CONCURRENCY): LoginLimiter {
  const failures = new RateLimiterMemory({ points: FAILURES_PER_ADDRESS, duration: FAILURE_WINDOW_S });
  const limiter = makeKeyedLimiter({ concurrency, ...QUEUE });

  return {
    async assertMayTry(tenantId, address) {
      const counted = await failures.get(limiterKeyOf(tenantId, address));
      if (!counted || counted.consumedPoints < FAILURES_PER_ADDRESS) return;
      throw new ApiError('too_many_attempts', {
        retryAfterSeconds: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
      });
    },

    async countFailure(tenantId, address) {
      await failures.penalty(limiterKeyOf(tenantId, address));
    },

    withLimit: (tenantId, username, attempt) => limiter.run(`${tenantId} ${username.toLowerCase()}`, attempt),
  };
}

const limiterKeyOf = (tenantId: string, address: string) => `${tenantId} ${networkOf(address)}`;
