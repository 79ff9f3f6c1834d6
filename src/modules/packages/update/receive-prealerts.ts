import type { UserTx } from '../../../platform/db/scope.js';
import { settledFact } from '../intake/open-prealerts.js';
import type { UpdateEffects } from './move-prealerts.js';
import { keysOfPackage } from './lock-package.js';
import { receivePendingPrealerts, type Editable } from './queries.js';

/**
 * Marks the pre-alerts of a package's customer as received once the package is linked to the customer. The
 * caller must hold the parcel's lock. Such a pre-alert was created while the package had no customer, and was
 * pending.
 */
export async function receivePrealerts(
  tx: UserTx,
  before: Editable,
  after: Editable,
): Promise<UpdateEffects> {
  const isLinked = after.user_code !== null && after.user_code !== before.user_code;
  if (!isLinked) return { columns: {}, facts: [] };
  const received = await tx.query(receivePendingPrealerts(tx, after, keysOfPackage(after)));
  const [oldest] = received.map(({ id }) => id).sort();
  return {
    columns: oldest && before.prealert_id === null ? { prealert_id: oldest } : {},
    facts: received.map(({ id }) => settledFact({ id, status: 'pending' }, 'received')),
  };
}
