import { keepUserCode, lockParcels } from '../../platform/db/locks.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { UserTx } from '../../platform/db/scope.js';
import { keysOfStored } from '../tracking-numbers/public.js';
import { findNumber, lockedPrealert, type PrealertColumns } from './queries.js';

export type LockedPrealert = {
  columns: PrealertColumns;
  /** The keys of its parcel, the pre-alert's own first. */
  keys: [string, ...string[]];
};

/**
 * Locks the parcels of a pre-alert's current and new number, then the pre-alert. A concurrent pre-alert of
 * the number waits for this lock and therefore sees a stored flag. With a replacement, first keeps its user code.
 * @throws ApiError prealert_not_found
 */
export async function lockPrealert(
  tx: UserTx,
  id: string,
  replacement?: { keys: string[]; userCode: string },
): Promise<LockedPrealert> {
  const [found] = await tx.query(findNumber(tx, id));
  if (!found) throw new ApiError('prealert_not_found');
  const locked = new Set([...keysOfStored(found), ...(replacement?.keys ?? [])]);
  if (replacement) tx.later(keepUserCode(tx.tenantId, replacement.userCode));
  // Locked before the row, as intake does: two different orders would deadlock.
  tx.later(lockParcels(tx.tenantId, [...locked]));
  const [row] = await tx.query(lockedPrealert(tx, id));
  if (!row) throw new ApiError('prealert_not_found');
  const { trackingKey, ...columns } = row;
  const keys = keysOfStored({ trackingKey, trackingNumber: columns.tracking_number });
  // A concurrent update has changed the number. If this lock deadlocks, PostgreSQL cancels one transaction
  // and it is retried.
  if (!locked.has(trackingKey)) tx.later(lockParcels(tx.tenantId, keys));
  return { columns, keys };
}
