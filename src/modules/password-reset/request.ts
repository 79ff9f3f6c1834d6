import type { RateLimit } from '../../platform/limits/headers/rate-limits.js';
import { countAttempt, limitOf, lockedOutError, lockLeft, resetThrottle } from '../auth/public.js';
import type { SystemContext } from '../../platform/context/request-context.js';
import { makeNetworkBudget } from '../../platform/limits/network-budget.js';
import type { SharedLimits } from '../../platform/limits/shared/shared-limits.js';
import { newId } from '../../platform/values/ids.js';
import { addJobs } from '../../platform/queue/jobs.js';
import { insertRequest } from './queries.js';

type ResetRequest = { username: string; address: string };

export type ResetRequests = { request(ctx: SystemContext, wanted: ResetRequest): Promise<void> };

/** Counted per server. The limit per user name is counted in the database. */
const PER_ADDRESS: RateLimit = {
  policy: 'password-resets-per-address',
  quota: 20,
  windowSeconds: 15 * 60,
};

/**
 * Stores requests for a password reset. It does not look up the user: known and unknown names execute the
 * same statements and get the same response. The worker does the rest.
 */
export function openResetRequests(limits: SharedLimits): ResetRequests {
  const budget = makeNetworkBudget(limits, PER_ADDRESS);
  return {
    async request(ctx, { username, address }) {
      const { tenantId } = ctx;
      const usage = await budget.consume({ tenantId, address });
      ctx.noteRateLimit({ ...PER_ADDRESS, ...usage });
      const throttle = resetThrottle(username);
      ctx.noteRateLimit(limitOf('password_reset'));
      const id = newId();
      await ctx.write(async (tx) => {
        const counted = await tx.query(countAttempt(ctx, throttle));
        if (counted.length === 0) throw lockedOutError(throttle, await tx.query(lockLeft(ctx, throttle)));
        await tx.count(insertRequest(ctx, id, username));
        await tx.query(addJobs(ctx, 'preparePasswordReset', [{ tenantId, resetId: id }]));
      });
    },
  };
}
