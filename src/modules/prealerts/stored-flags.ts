import type { UserTx } from '../../platform/db/scope.js';
import type { LockedPrealert } from './lock-prealert.js';
import { deleteFlags, insertFlag } from './status/stored-flag-queries.js';

/**
 * Stores the flag of a pre-alert that its courier deletes or renumbers, for the courier's next pre-alert of the
 * number. Otherwise the courier could clear the flag by announcing the number again (decision 0026).
 */
export async function storeFlagForCourier(tx: UserTx, { columns, keys }: LockedPrealert): Promise<void> {
  if (tx.caller.courierId === null || columns.status !== 'flagged') return;
  tx.later(insertFlag(tx, columns.courier_id, keys[0]));
}

/** Deletes the stored flags of a number when staff delete a flagged pre-alert of it. */
export async function deleteFlagForStaff(tx: UserTx, { columns, keys }: LockedPrealert): Promise<void> {
  if (tx.caller.courierId !== null || columns.status !== 'flagged') return;
  tx.later(deleteFlags(tx, columns.courier_id, keys));
}
