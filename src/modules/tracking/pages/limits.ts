import type { RateLimit } from '../../../platform/limits/headers/rate-limits.js';
import { consume, makeNetworkBudget } from '../../../platform/limits/network-budget.js';
import type { SharedLimits } from '../../../platform/limits/shared/shared-limits.js';

/** Of pages. Customers of mobile networks share addresses. */
const PAGES_PER_ADDRESS: RateLimit = { policy: 'pages-per-address', quota: 240, windowSeconds: 60 };

/** Of pages that all strangers open at an instance, so that a flood from many addresses leaves the database to the warehouse. */
const PAGES_IN_TOTAL: RateLimit = { policy: 'pages-in-total', quota: 1_200, windowSeconds: 60 };

/** Right and wrong: whoever tries numbers and names has no use for the right ones either. */
const SEARCHES_PER_ADDRESS: RateLimit = {
  policy: 'searches-per-address',
  quota: 30,
  windowSeconds: 60 * 60,
};

const SEARCHES_PER_COURIER: RateLimit = {
  policy: 'searches-per-courier',
  quota: 600,
  windowSeconds: 60 * 60,
};

/** Of wrong names. Its use is never shown. */
const NAMES_PER_PARCEL: RateLimit = { policy: 'names-per-parcel', quota: 5, windowSeconds: 60 * 60 };

export type Visitor = { tenantId: string; address: string };

/** The limits of what strangers can do. */
export type PageLimits = {
  /** @throws ApiError too_many_attempts */
  countPage(who: Visitor): Promise<void>;
  /** @throws ApiError too_many_attempts */
  countSearch(who: Visitor): Promise<void>;
  /** @throws ApiError too_many_attempts */
  countSearchOf(courierId: string, who: Visitor): Promise<void>;
  /**
   * Counts a name that is tried for a parcel, and returns whether it may be compared. It is counted before, so that names that arrive together
   * do not pass together. `giveBack` ends the count of a right one.
   */
  countName(parcel: string, who: Visitor): Promise<{ isAllowed: boolean; giveBack(): Promise<void> }>;
};

export function openPageLimits(limits: SharedLimits): PageLimits {
  const pages = makeNetworkBudget(limits, PAGES_PER_ADDRESS);
  const total = limits.rateLimiter(PAGES_IN_TOTAL);
  const searches = makeNetworkBudget(limits, SEARCHES_PER_ADDRESS);
  const ofCouriers = limits.rateLimiter(SEARCHES_PER_COURIER);
  const names = limits.rateLimiter(NAMES_PER_PARCEL);
  return {
    async countPage(who) {
      await pages.consume(who);
      await consume(total, PAGES_IN_TOTAL, who.tenantId, 'too_many_attempts');
    },
    async countSearch(who) {
      await searches.consume(who);
    },
    async countSearchOf(courierId, { tenantId }) {
      await consume(ofCouriers, SEARCHES_PER_COURIER, `${tenantId} ${courierId}`, 'too_many_attempts');
    },
    async countName(parcel, { tenantId }) {
      const key = `${tenantId} ${parcel}`;
      const counted = await names.consume(key);
      return {
        isAllowed: !counted.isRefused,
        giveBack: async () => void (await names.penalty(key, -1)),
      };
    },
  };
}
