import type { ContextTx, UserContext } from '../../platform/context/request-context.js';
import type { LockedPrealert } from './lock-prealert.js';

/**
 * Stores the flag of a pre-alert that its courier deletes or renumbers, for the courier's next pre-alert of the
 * number. Otherwise the courier could clear the flag by announcing the number again (decision 0026).
 */
export async function storeFlagForCourier(
  { caller, tenantId }: UserContext,
  tx: ContextTx,
  { columns, trackingKey }: LockedPrealert,
): Promise<void> {
  if (caller.courierId === null || columns.status !== 'flagged') return;
  const flag = { tenantId, courierId: columns.courier_id, trackingKey };
  await tx.models.prealertFlag.createMany({ data: [flag], skipDuplicates: true });
}

/** Deletes the stored flag of a number when staff delete a flagged pre-alert of it. */
export async function deleteFlagForStaff(
  { caller }: UserContext,
  tx: ContextTx,
  { columns, trackingKey }: LockedPrealert,
): Promise<void> {
  if (caller.courierId !== null || columns.status !== 'flagged') return;
  await deleteStoredFlag(tx, columns.courier_id, trackingKey);
}

/** Only for staff: a courier must not clear its own flag. */
export async function deleteStoredFlag(tx: ContextTx, courierId: string, trackingKey: string): Promise<void> {
  await tx.models.prealertFlag.deleteMany({ where: { courierId, trackingKey } });
}
