import type { UserCaller } from '../../platform/identity/callers.js';
import { lockParcel } from '../../platform/db/locks.js';
import type { Db, Tx } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';
import { findTrackingKey, deleteStoredFlag, insertStoredFlag } from './review-queries.js';
import { prealertForUpdate, type PrealertStatus } from './queries.js';

type Ctx = { db: Db; tx: Tx; caller: UserCaller };

export type LockedPrealert = {
  /** The columns as recorded in the audit trail. */
  columns: Record<string, unknown> & { courier_id: string; status: PrealertStatus };
  trackingKey: string;
};

/**
 * Locks the parcels of a pre-alert's current and new number, then the pre-alert. A concurrent pre-alert of
 * the number waits for this lock and therefore sees a stored flag.
 * @throws ApiError prealert_not_found
 */
export async function lockPrealert(
  { db, tx, caller }: Ctx,
  id: string,
  newKey?: string,
): Promise<LockedPrealert> {
  const [found] = await tx.query<{ tracking_key: string }>(findTrackingKey(db, caller, id));
  if (!found) throw new ApiError('prealert_not_found');
  const keys = new Set([found.tracking_key, newKey ?? found.tracking_key]);
  // Locked before the row, as intake does, and sorted: two different orders would deadlock.
  for (const key of [...keys].sort()) await tx.execute(lockParcel(caller.tenantId, key));
  const [row] = await tx.query<LockedPrealert['columns'] & { tracking_key: string }>(
    prealertForUpdate(db, caller, id),
  );
  if (!row) throw new ApiError('prealert_not_found');
  const { tracking_key: trackingKey, ...columns } = row;
  // A concurrent update has changed the number. If this lock deadlocks, PostgreSQL cancels one transaction
  // and it is retried.
  if (!keys.has(trackingKey)) await tx.execute(lockParcel(caller.tenantId, trackingKey));
  return { columns: columns, trackingKey };
}

/**
 * Stores the flag of a pre-alert that its courier deletes or renumbers. Otherwise the courier could clear the
 * flag by announcing the number again (decision 0026).
 */
export async function storeFlagForCourier(
  { tx, caller }: Ctx,
  { columns, trackingKey }: LockedPrealert,
): Promise<void> {
  if (caller.courierId === null || columns.status !== 'flagged') return;
  await tx.execute(insertStoredFlag(caller, columns.courier_id, trackingKey));
}

/** Deletes the stored flag of a number when staff delete a flagged pre-alert of it. */
export async function deleteFlagForStaff(
  { db, tx, caller }: Ctx,
  { columns, trackingKey }: LockedPrealert,
): Promise<void> {
  if (caller.courierId !== null || columns.status !== 'flagged') return;
  await tx.execute(deleteStoredFlag(db, caller, columns.courier_id, trackingKey));
}
