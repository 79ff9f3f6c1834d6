import type { RateLimit } from '../../platform/limits/headers/rate-limits.js';
import { consume, makeNetworkBudget } from '../../platform/limits/network-budget.js';
import type { SharedLimits } from '../../platform/limits/shared/shared-limits.js';

/** Of a user, right, wrong and repeated. Below the limit of an address, so that no user can use that up alone. */
const CLAIMS_PER_USER: RateLimit = {
  policy: 'parcel-claims-per-user',
  quota: 30,
  windowSeconds: 60 * 60,
};

/** Of new numbers only: a network is shared by strangers, and what one of them repeats must not stop the others. */
const CLAIMS_PER_ADDRESS: RateLimit = {
  policy: 'parcel-claims-per-address',
  quota: 60,
  windowSeconds: 60 * 60,
};

export type Claimant = { tenantId: string; userId: string; address: string };

/** The limits of claims in memory. The quotas of a courier, in the database, count all its users and networks. */
export type ClaimLimits = {
  /** Counts an attempt of the user. @throws ApiError too_many_attempts if the user or the network has no claims left */
  countAttempt(who: Claimant): Promise<void>;
  /** Counts a stored claim of a new number for the network. */
  countNewNumber(who: Claimant): Promise<void>;
};

export function openClaimLimits(limits: SharedLimits): ClaimLimits {
  const ofUsers = limits.rateLimiter(CLAIMS_PER_USER);
  const ofNetworks = makeNetworkBudget(limits, CLAIMS_PER_ADDRESS);
  return {
    async countAttempt({ tenantId, userId, address }) {
      await consume(ofUsers, CLAIMS_PER_USER, `${tenantId} ${userId}`, 'too_many_attempts');
      await ofNetworks.assertLeft({ tenantId, address });
    },
    countNewNumber: ({ tenantId, address }) => ofNetworks.count({ tenantId, address }),
  };
}
