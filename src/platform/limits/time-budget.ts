import { ApiError } from '../errors/errors.js';
import type { RateLimit } from './headers/rate-limits.js';
import { usageOf } from './network-budget.js';
import type { SharedLimits } from './shared/shared-limits.js';

/** The time that expensive work of one key, for example a courier, may take within a window. */
export type TimeBudget = {
  /** @throws ApiError quota_exceeded if the key has no time left */
  assertLeft(key: string): Promise<void>;
  /**
   * Does the work and counts its time, also if it fails. Work that has begun is never refused. Until it has ended, the most that it can take
   * is counted, so that work which ends the process counts too.
   */
  spend<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
};

/**
 * Makes a budget of time. What is refused leaves nothing behind, so that what it costs is limited, not how often it succeeds.
 *
 * @param limit its quota is in milliseconds
 * @param mostMs the longest that one piece of work may take
 * @param variant of `quota_exceeded` in openapi/errors.yaml, whose `limit` is in seconds
 */
export function makeTimeBudget(
  limits: SharedLimits,
  limit: RateLimit & { unit: 'milliseconds' },
  variant: 'logo_drawing' | 'workbook_reading',
  mostMs: number,
): TimeBudget {
  const spent = limits.rateLimiter(limit);
  return {
    async assertLeft(key) {
      const counted = await spent.get(key);
      if (!counted || counted.consumedPoints < limit.quota) return;
      const args = { limit: limit.quota / 1_000 };
      const retryAfterSeconds = usageOf(counted).resetSeconds;
      throw new ApiError('quota_exceeded', { variant, args, retryAfterSeconds, limit });
    },
    async spend(key, work) {
      await spent.penalty(key, mostMs);
      const startMs = performance.now();
      try {
        return await work();
      } finally {
        // Less than nothing: the rest is given back.
        await spent.penalty(key, Math.ceil(performance.now() - startMs) - mostMs);
      }
    },
  };
}
