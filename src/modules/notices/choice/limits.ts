import type { RateLimit } from '../../../platform/limits/headers/rate-limits.js';
import { consume, makeNetworkBudget } from '../../../platform/limits/network-budget.js';
import type { SharedLimits } from '../../../platform/limits/shared/shared-limits.js';

/** Of pages. Customers of mobile networks share addresses. */
const PAGES_PER_ADDRESS: RateLimit = {
  policy: 'notice-pages-per-address',
  quota: 240,
  windowSeconds: 60,
};

/** Of pages that all strangers open at an instance, so that a flood from many addresses leaves the database to the warehouse. */
const PAGES_IN_TOTAL: RateLimit = { policy: 'notice-pages-in-total', quota: 1_200, windowSeconds: 60 };

/** Mail services send the choices of many people from few addresses. */
const CHOICES_PER_ADDRESS: RateLimit = {
  policy: 'notice-choices-per-address',
  quota: 300,
  windowSeconds: 60,
};

/** Apart from the pages, so that a flood of those keeps nobody from ending mails. */
const CHOICES_IN_TOTAL: RateLimit = { policy: 'notice-choices-in-total', quota: 600, windowSeconds: 60 };

/** Ending mails has no limit of its own: it writes at most once after each beginning. */
const RESUMED_PER_LINK: RateLimit = {
  policy: 'resumed-notices-per-link',
  quota: 5,
  windowSeconds: 24 * 60 * 60,
};

export type Visitor = { tenantId: string; address: string };

/** The limits of what strangers can do. All throw ApiError too_many_attempts. */
export type ChoiceLimits = {
  countPage(who: Visitor): Promise<void>;
  countChoice(who: Visitor): Promise<void>;
  countResumed(keyHash: string, who: Visitor): Promise<void>;
};

export function openChoiceLimits(limits: SharedLimits): ChoiceLimits {
  const pages = makeNetworkBudget(limits, PAGES_PER_ADDRESS);
  const allPages = limits.rateLimiter(PAGES_IN_TOTAL);
  const choices = makeNetworkBudget(limits, CHOICES_PER_ADDRESS);
  const allChoices = limits.rateLimiter(CHOICES_IN_TOTAL);
  const resumed = limits.rateLimiter(RESUMED_PER_LINK);
  return {
    async countPage(who) {
      await pages.consume(who);
      await consume(allPages, PAGES_IN_TOTAL, who.tenantId, 'too_many_attempts');
    },
    async countChoice(who) {
      await choices.consume(who);
      await consume(allChoices, CHOICES_IN_TOTAL, who.tenantId, 'too_many_attempts');
    },
    async countResumed(keyHash, { tenantId }) {
      await consume(resumed, RESUMED_PER_LINK, `${tenantId} ${keyHash}`, 'too_many_attempts');
    },
  };
}
