import type { UserContext } from '../../../platform/context/request-context.js';
import { lockParcel, lockParcels } from '../../../platform/db/locks.js';
import type { ApiError } from '../../../platform/errors/errors.js';
import type { Tx } from '../../../platform/db/scope.js';
import { readScan } from '../../tracking-numbers/public.js';
import { hiddenPackageError } from '../shared/hidden-package.js';
import { packageHasCourier } from '../shared/queries.js';
import type { RequestedFields } from './fields.js';
import { findTrackingKey, lockedPackage, type Editable } from './queries.js';

/**
 * Selects and locks the package. If the change can affect pre-alerts, first locks the parcels of the old and
 * the new number.
 * @throws ApiError package_not_found, record_forbidden
 */
export async function lockPackageAndParcels(
  ctx: UserContext,
  tx: Tx,
  id: string,
  input: RequestedFields,
): Promise<Editable> {
  const locked = new Set<string>();
  // A courier cannot change the number. Waiting for the lock of the number it sends would reveal whether that
  // parcel exists.
  const newNumber = ctx.caller.courierId === null ? input.tracking_number : undefined;
  if (newNumber !== undefined || input.user_code) {
    const [found] = await tx.query(findTrackingKey(ctx, id));
    if (found) locked.add(found.trackingKey);
    if (found)
      for (const { keys } of readScan(newNumber ?? '').numbers) for (const key of keys) locked.add(key);
    // Locked before the row, as intake does: two different orders would deadlock.
    tx.later(lockParcels(ctx.tenantId, [...locked]));
  }
  const [row] = await tx.query(lockedPackage(ctx, id));
  if (!row) throw await findHiddenPackageError(ctx, tx, id);
  // A concurrent update has changed the number. If this lock deadlocks, PostgreSQL cancels one transaction
  // and it is retried.
  if (locked.size > 0 && !locked.has(row.tracking_key)) tx.later(lockParcel(ctx.tenantId, row.tracking_key));
  return row;
}

async function findHiddenPackageError({ caller }: UserContext, tx: Tx, id: string): Promise<ApiError> {
  if (caller.courierId === null) return hiddenPackageError(caller, false);
  const [hidden] = await tx.query(packageHasCourier(id));
  return hiddenPackageError(caller, hidden?.isCouriers === true);
}
