import { availableParallelism } from 'node:os';
import { ApiError } from '../errors/errors.js';
import type { RateLimit } from './headers/rate-limits.js';
import { networkOf } from '../values/network-address.js';
import type { CallOwner } from './queues/keyed-limiter.js';
import { makeOwnLimits } from './shared/shared-limits.js';

type LimitedContext = { tenantId: string; noteRateLimit(limit: RateLimit): void };

export type LoginLimiter = {
  /** @throws ApiError too_many_attempts when too many logins from the address have failed */
  assertMayTry(ctx: LimitedContext, address: string): Promise<void>;
  countFailure(tenantId: string, address: string): Promise<void>;
  /** @throws ApiError overloaded when the queue of `withLimit` is full */
  assertSpace(tenantId: string, username: string, address: string): Promise<void>;
  /**
   * Runs a password attempt within the concurrency limit: at most one per user name. Networks take turns, and so do the user names of a
   * network.
   *
   * @param address of the caller, if it is not a user that has logged in
   * @throws ApiError overloaded when the attempt could not start in time
   */
  withLimit<Result>(
    tenantId: string,
    username: string,
    attempt: () => Promise<Result>,
    address?: string,
  ): Promise<Result>;
};

const FAILURES_PER_ADDRESS: RateLimit = {
  policy: 'login-failures-per-address',
  quota: 50,
  windowSeconds: 15 * 60,
};

/** All cores but one, because hashing a password keeps a core busy for 0.2 s. */
const DEFAULT_CONCURRENCY = Math.max(1, availableParallelism() - 1);
const QUEUE = { maxWaiting: 16, maxWaitMs: 3_000, retryAfterSeconds: 2 };

/**
 * Limits login attempts within one server. The limits that hold across servers are in login-throttle.ts.
 *
 * @param concurrency the number of password attempts that run at the same time
 */
export function makeLoginLimiter(concurrency = DEFAULT_CONCURRENCY, limits = makeOwnLimits()): LoginLimiter {
  const failures = limits.rateLimiter(FAILURES_PER_ADDRESS);
  const limiter = limits.keyedLimiter('logins', { concurrency, ...QUEUE });

  return {
    async assertMayTry(ctx, address) {
      ctx.noteRateLimit(FAILURES_PER_ADDRESS);
      const counted = await failures.get(limiterKeyOf(ctx.tenantId, address));
      if (!counted || counted.consumedPoints < FAILURES_PER_ADDRESS.quota) return;
      throw new ApiError('too_many_attempts', {
        retryAfterSeconds: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
        limit: FAILURES_PER_ADDRESS,
      });
    },

    async countFailure(tenantId, address) {
      await failures.penalty(limiterKeyOf(tenantId, address), 1);
    },

    assertSpace: (tenantId, username, address) =>
      limiter.assertSpace(nameKeyOf(tenantId, username), ownerOf(tenantId, address)),
    withLimit: (tenantId, username, attempt, address) =>
      limiter.run(nameKeyOf(tenantId, username), attempt, ownerOf(tenantId, address)),
  };
}

const nameKeyOf = (tenantId: string, username: string) => `${tenantId} ${username.toLowerCase()}`;

const ownerOf = (tenant: string, address: string | undefined): CallOwner =>
  address === undefined ? { tenant } : { tenant, network: networkOf(address) };

const limiterKeyOf = (tenantId: string, address: string) => `${tenantId} ${networkOf(address)}`;
