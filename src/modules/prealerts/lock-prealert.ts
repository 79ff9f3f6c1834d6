import { awaitBatches, keepUserCode } from '../../platform/db/locks.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { UserTx } from '../../platform/db/scope.js';
import { lockLooked } from '../packages/public.js';
import { keyOfStored, keysOfStored } from '../tracking-numbers/public.js';
import { ownerOfPrealert } from './duplicates/existing.js';
import { findNumber, lockedPrealert, type PrealertColumns } from './queries.js';

export type LockedPrealert = {
  columns: PrealertColumns;
  /** The keys of its parcel, the pre-alert's own first. */
  keys: [string, ...string[]];
  /** The key of the number that the courier announced. `keys` begins with that of the package it was matched with. */
  announcedKey: string;
};

/**
 * Locks the parcels of a pre-alert's current and new number, then the pre-alert. A concurrent pre-alert of
 * the number waits for this lock and therefore sees a stored flag. With a replacement, first keeps its user code.
 * @throws ApiError prealert_not_found, overloaded
 */
export async function lockPrealert(
  tx: UserTx,
  id: string,
  replacement?: { keys: string[]; userCode: string },
): Promise<LockedPrealert> {
  if (replacement) {
    tx.later(awaitBatches(tx.tenantId, ownerOfPrealert(tx, id)));
    tx.later(keepUserCode(tx.tenantId, replacement.userCode));
  }
  const newKeys = replacement?.keys ?? [];
  const { columns, own, announcedKey } = await lockLooked(tx, {
    look: async () => ({ keys: [...new Set([...(await findKeys(tx, id)), ...newKeys])] }),
    identify: () => selectLocked(tx, id, newKeys),
    isCorrection: replacement !== undefined,
  });
  return { columns, keys: own, announcedKey };
}

/** Returns the keys of the parcel whose lock a change of the pre-alert needs. @throws ApiError prealert_not_found */
export async function findKeys(tx: UserTx, id: string): Promise<[string, ...string[]]> {
  const [found] = await tx.query(findNumber(tx, id));
  if (!found) throw new ApiError('prealert_not_found');
  return keysOfStored(found);
}

type Selected = Omit<LockedPrealert, 'keys'> & { own: [string, ...string[]]; keys: string[] };

async function selectLocked(tx: UserTx, id: string, newKeys: string[]): Promise<Selected> {
  const [row] = await tx.query(lockedPrealert(tx, id));
  if (!row) throw new ApiError('prealert_not_found');
  const { trackingKey, announcedKey: _, ...columns } = row;
  const stored = { trackingKey, trackingNumber: columns.tracking_number };
  const own = keysOfStored(stored);
  return { columns, own, announcedKey: keyOfStored(stored), keys: [...own, ...newKeys] };
}
