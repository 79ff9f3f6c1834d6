import { quotaOf, type Quota } from '../../../platform/db/quotas.js';

/**
 * The daily quota of customers created, changed or deleted per courier, in all operations together. A
 * customer sent with its stored values does not count.
 */
export const customerChanges = (limit: number): Quota => quotaOf('customer_changes', limit);
