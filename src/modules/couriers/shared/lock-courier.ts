import { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { lockedCourier } from './queries.js';

/**
 * Locks the courier until the end of the transaction. Read it with a second statement: a statement that waits
 * for the lock sees the current courier, but the logo from before the wait.
 * @throws ApiError courier_not_found
 */
export async function lockCourier(tx: UserTx, courierId: string): Promise<void> {
  const rows = await tx.query(lockedCourier(tx, courierId));
  if (rows.length === 0) throw new ApiError('courier_not_found');
}
