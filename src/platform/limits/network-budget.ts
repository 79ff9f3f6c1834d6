import { ApiError } from '../errors/errors.js';
import { isOfOneSubscriber, networksOf } from '../values/network-address.js';
import type { RateLimit, RateLimitUsage } from './headers/rate-limits.js';
import type { Counted, RateLimiter, SharedLimits } from './shared/shared-limits.js';

/** What a client network may do, for example fail. The wider networks that contain it have larger quotas. */
export type NetworkBudget = {
  /**
   * @param isKnown whether a user has logged in from the network: then strangers in the networks around it do not use up what it has
   * @throws ApiError too_many_attempts if nothing is left
   */
  assertLeft(who: Counting, isKnown?: boolean): Promise<void>;
  /** Counts once, also above the quota. */
  count(who: Counting): Promise<void>;
  /** Counts once, and returns what the network itself has left. @throws ApiError too_many_attempts if nothing was left */
  consume(who: Counting): Promise<RateLimitUsage>;
};

/** @property name what else is counted separately, for example a user name */
type Counting = { tenantId: string; address: string; name?: string };

/** One line of IPv6 has 256 networks, and a site has 65,536. A quota for each of them would be none. */
const WIDER = [
  { suffix: '-56', of: 'line', factor: 5 },
  { suffix: '-48', of: 'block', factor: 20 },
] as const;

type Level = { limit: RateLimit; limiter: RateLimiter; of: 'network' | 'line' | 'block' };

/** Counts per IPv4 address or IPv6 /64, and per IPv6 /56 and /48. */
export function makeNetworkBudget(limits: SharedLimits, limit: RateLimit): NetworkBudget {
  const open = (opened: RateLimit, of: Level['of']): Level => ({
    limit: opened,
    limiter: limits.rateLimiter(opened),
    of,
  });
  const own = open(limit, 'network');
  const wider = WIDER.map(({ suffix, of, factor }) =>
    open({ ...limit, policy: `${limit.policy}${suffix}`, quota: limit.quota * factor }, of),
  );
  const widerOf = ({ address }: Counting) => (isOfOneSubscriber(networksOf(address)) ? wider : []);

  return {
    async assertLeft(who, isKnown = false) {
      const levels = isKnown ? [own] : [own, ...widerOf(who)];
      const counts = await Promise.all(levels.map(({ limiter, of }) => limiter.get(keyOf(who, of))));
      for (const [at, level] of levels.entries()) {
        const counted = counts[at];
        if (counted && counted.consumedPoints >= level.limit.quota) throw refusal(counted, level.limit);
      }
    },
    async count(who) {
      await Promise.all([own, ...widerOf(who)].map(({ limiter, of }) => limiter.penalty(keyOf(who, of), 1)));
    },
    async consume(who) {
      const usage = await consume(own.limiter, own.limit, keyOf(who, own.of), 'too_many_attempts');
      for (const level of widerOf(who))
        await consume(level.limiter, level.limit, keyOf(who, level.of), 'too_many_attempts');
      return usage;
    },
  };
}

const keyOf = ({ tenantId, address, name }: Counting, of: Level['of']) =>
  [tenantId, networksOf(address)[of], ...(name === undefined ? [] : [name])].join(' ');

/** Counts once and returns what is left. @throws ApiError with `code` and Retry-After when the key has no points left */
export async function consume(
  limiter: RateLimiter,
  limit: RateLimit,
  key: string,
  code: 'rate_limited' | 'too_many_attempts',
): Promise<RateLimitUsage> {
  const counted = await limiter.consume(key);
  if (counted.isRefused) throw refusal(counted, limit, code);
  return usageOf(counted);
}

export const usageOf = ({ remainingPoints, msBeforeNext }: Counted): RateLimitUsage => ({
  remaining: Math.max(0, remainingPoints),
  resetSeconds: toSeconds(msBeforeNext),
});

const refusal = (
  { msBeforeNext }: Counted,
  limit: RateLimit,
  code: 'rate_limited' | 'too_many_attempts' = 'too_many_attempts',
) => new ApiError(code, { retryAfterSeconds: toSeconds(msBeforeNext), limit });

const toSeconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));
