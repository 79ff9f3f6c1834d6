import { availableParallelism } from 'node:os';
import type { RateLimit } from './headers/rate-limits.js';
import { networkOf, networksOf } from '../values/network-address.js';
import { makeNetworkBudget } from './network-budget.js';
import type { UserCaller } from '../identity/callers.js';
import { placeOfTeam, type CallOwner } from './queues/keyed-limiter.js';
import { makeOwnLimits } from './shared/shared-limits.js';

type LimitedContext = { tenantId: string; noteRateLimit(limit: RateLimit): void };

export type LoginLimiter = {
  /** @throws ApiError too_many_attempts when too many logins from the address have failed */
  assertMayTry(ctx: LimitedContext, address: string): Promise<void>;
  countFailure(tenantId: string, address: string): Promise<void>;
  /** @throws ApiError too_many_attempts when the address has tried the name too often while it was locked */
  assertMayTryName(tenantId: string, username: string, address: string): Promise<void>;
  /** Counts an attempt that was refused because its name is locked. */
  countLocked(tenantId: string, username: string, address: string): Promise<void>;
  /** Records that a user has logged in. Logins from its network then take turns with those of all unknown networks. */
  noteLogin(tenantId: string, userId: string, address: string): void;
  /** @throws ApiError overloaded when the queue of `withLimit` is full */
  assertSpace(tenantId: string, username: string, address: string): Promise<void>;
  /**
   * Runs a password attempt within the concurrency limit: at most one per user name. Known networks and all others take turns, then
   * networks, and the user names of a network.
   *
   * @throws ApiError overloaded when the attempt could not start in time
   */
  withLimit<Result>(
    tenantId: string,
    username: string,
    attempt: () => Promise<Result>,
    address: string,
  ): Promise<Result>;
  /**
   * Hashes the password of another user for a caller that has logged in, within the same limit: one at a time for a caller. All users of a
   * courier, and each of the staff, take turns with the known networks as one of them, so that they fill no queue of others.
   *
   * @throws ApiError overloaded when it could not start in time
   */
  hashFor<Result>(
    caller: Pick<UserCaller, 'tenantId' | 'userId' | 'courierId'>,
    hash: () => Promise<Result>,
  ): Promise<Result>;
};

const FAILURES_PER_ADDRESS: RateLimit = {
  policy: 'login-failures-per-address',
  quota: 50,
  windowSeconds: 15 * 60,
};

/** Each costs a transaction. Per name, so that a program with an old password stops nobody else behind its address. */
const LOCKED_PER_ADDRESS: RateLimit = {
  policy: 'locked-name-attempts-per-address',
  quota: 30,
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
  const failures = makeNetworkBudget(limits, FAILURES_PER_ADDRESS);
  const lockedAttempts = makeNetworkBudget(limits, LOCKED_PER_ADDRESS);
  const limiter = limits.keyedLimiter('logins', { concurrency, ...QUEUE });

  const isKnown = (tenant: string, address: string) =>
    limits.knownNetworks.has({ tenant, network: networkOf(address) });

  async function ownerOf(tenant: string, address: string): Promise<CallOwner> {
    return { tenant, networks: networksOf(address), isStranger: !(await isKnown(tenant, address)) };
  }

  return {
    async assertMayTry(ctx, address) {
      ctx.noteRateLimit(FAILURES_PER_ADDRESS);
      const { tenantId } = ctx;
      await failures.assertLeft({ tenantId, address }, await isKnown(tenantId, address));
    },
    countFailure: (tenantId, address) => failures.count({ tenantId, address }),
    assertMayTryName: async (tenantId, username, address) =>
      lockedAttempts.assertLeft(
        { tenantId, address, name: username.toLowerCase() },
        await isKnown(tenantId, address),
      ),
    countLocked: (tenantId, username, address) =>
      lockedAttempts.count({ tenantId, address, name: username.toLowerCase() }),
    noteLogin: (tenant, user, address) =>
      limits.knownNetworks.note({ tenant, user, network: networkOf(address) }),

    assertSpace: async (tenantId, username, address) =>
      limiter.assertSpace(nameKeyOf(tenantId, username), await ownerOf(tenantId, address)),
    withLimit: async (tenantId, username, attempt, address) =>
      limiter.run(nameKeyOf(tenantId, username), attempt, await ownerOf(tenantId, address)),
    hashFor: (caller, hash) => {
      const { tenantId: tenant, userId } = caller;
      return limiter.run(nameKeyOf(tenant, userId), hash, { tenant, networks: placeOfTeam(caller) });
    },
  };
}

const nameKeyOf = (tenantId: string, username: string) => `${tenantId} ${username.toLowerCase()}`;
