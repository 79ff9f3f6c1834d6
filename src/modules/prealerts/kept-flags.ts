import type { UserCaller } from '../../platform/identity/callers.js';
import { lockParcel } from '../../platform/db/locks.js';
import type { Db, Tx } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';
import { findTrackingKey, forgetFlag, keepFlag } from './review-queries.js';
import { prealertForUpdate, type PrealertStatus } from './queries.js';

type Ctx = { db: Db; tx: Tx; caller: UserCaller };

export type LockedPrealert = {
  /** As the audit trail has it. */
  columns: Record<string, unknown> & { courier_id: string; status: PrealertStatus };
  trackingKey: string;
};

/**
 * Locks the parcels of a pre-alert's number and of the one that it is to get, then the pre-alert. A new pre-alert of the
 * number waits for it, and so sees a flag that is kept.
 *
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
  // before the row, as intake takes them, and sorted: two orders would deadlock
  for (const key of [...keys].sort()) await tx.execute(lockParcel(caller.tenantId, key));
  const [row] = await tx.query<LockedPrealert['columns'] & { tracking_key: string }>(
    prealertForUpdate(db, caller, id),
  );
  if (!row) throw new ApiError('prealert_not_found');
  const { tracking_key: trackingKey, ...columns } = row;
  // it has got another number in between; a deadlock, if this makes one, is broken and repeated
  if (!keys.has(trackingKey)) await tx.execute(lockParcel(caller.tenantId, trackingKey));
  return { columns: columns, trackingKey };
}

/**
 * Keeps the flag of a pre-alert that its courier takes off a number, so that the courier does not clear it by announcing
 * the number again (decision 0026).
 */
export async function keepFlagOfCourier(
  { tx, caller }: Ctx,
  { columns, trackingKey }: LockedPrealert,
): Promise<void> {
  if (caller.courierId === null || columns.status !== 'flagged') return;
  await tx.execute(keepFlag(caller, columns.courier_id, trackingKey));
}

/** Forgets the flag that was kept for a number, when staff delete a flagged pre-alert of it. */
export async function forgetFlagOfStaff(
  { db, tx, caller }: Ctx,
  { columns, trackingKey }: LockedPrealert,
): Promise<void> {
  if (caller.courierId !== null || columns.status !== 'flagged') return;
  await tx.execute(forgetFlag(db, caller, columns.courier_id, trackingKey));
}
