import type { RateLimit } from '../../platform/limits/headers/rate-limits.js';
import { makeNetworkBudget, type NetworkBudget } from '../../platform/limits/network-budget.js';
import type { SharedLimits } from '../../platform/limits/shared/shared-limits.js';

const CLAIMS_PER_ADDRESS: RateLimit = {
  policy: 'parcel-claims-per-address',
  quota: 60,
  windowSeconds: 60 * 60,
};

/** Limits the claims of a network. The quota of a courier, in the database, also counts claims from other networks. */
export const openClaimBudget = (limits: SharedLimits): Pick<NetworkBudget, 'consume'> =>
  makeNetworkBudget(limits, CLAIMS_PER_ADDRESS);
