import type { UserContext } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/db/scope.js';
import type { LockedPrealert } from './lock-prealert.js';
import { deleteFlag, insertFlag } from './stored-flag-queries.js';

/**
 * Stores the flag of a pre-alert that its courier deletes or renumbers, for the courier's next pre-alert of the
 * number. Otherwise the courier could clear the flag by announcing the number again (decision 0026).
 */
export async function storeFlagForCourier(
  ctx: UserContext,
  tx: Tx,
  { columns, trackingKey }: LockedPrealert,
): Promise<void> {
  if (ctx.caller.courierId === null || columns.status !== 'flagged') return;
  tx.later(insertFlag(ctx, columns.courier_id, trackingKey));
}

/** Deletes the stored flag of a number when staff delete a flagged pre-alert of it. */
export async function deleteFlagForStaff(
  ctx: UserContext,
  tx: Tx,
  { columns, trackingKey }: LockedPrealert,
): Promise<void> {
  if (ctx.caller.courierId !== null || columns.status !== 'flagged') return;
  tx.later(deleteFlag(ctx, columns.courier_id, trackingKey));
}
