import type { UserContext } from '../../platform/context/request-context.js';
import { lockParcel, lockParcels } from '../../platform/db/locks.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { Tx } from '../../platform/db/scope.js';
import { findTrackingKey, lockedPrealert, type PrealertColumns } from './queries.js';

export type LockedPrealert = { columns: PrealertColumns; trackingKey: string };

/**
 * Locks the parcels of a pre-alert's current and new number, then the pre-alert. A concurrent pre-alert of
 * the number waits for this lock and therefore sees a stored flag.
 * @throws ApiError prealert_not_found
 */
export async function lockPrealert(
  ctx: UserContext,
  tx: Tx,
  id: string,
  newKey?: string,
): Promise<LockedPrealert> {
  const [found] = await tx.query(findTrackingKey(ctx, id));
  if (!found) throw new ApiError('prealert_not_found');
  const keys = new Set([found.trackingKey, newKey ?? found.trackingKey]);
  // Locked before the row, as intake does: two different orders would deadlock.
  tx.later(lockParcels(ctx.tenantId, [...keys]));
  const [row] = await tx.query(lockedPrealert(ctx, id));
  if (!row) throw new ApiError('prealert_not_found');
  const { trackingKey, ...columns } = row;
  // A concurrent update has changed the number. If this lock deadlocks, PostgreSQL cancels one transaction
  // and it is retried.
  if (!keys.has(trackingKey)) tx.later(lockParcel(ctx.tenantId, trackingKey));
  return { columns, trackingKey };
}
