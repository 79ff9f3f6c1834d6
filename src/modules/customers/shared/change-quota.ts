import type { Quota } from '../../../platform/db/quotas.js';

/** Customers created, changed or deleted for one courier, by whatever way. A customer sent as it is stored does not count. */
export const customerChanges = (limit: number): Quota => ({
  kind: 'customer_changes',
  period: 'day',
  limit,
});
