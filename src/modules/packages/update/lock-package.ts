import { joinCorrections, keepUserCode, lockParcels } from '../../../platform/db/locks.js';
import type { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { keysOfStored, readScan, type ScannedNumber } from '../../tracking-numbers/public.js';
import { isHouseNumber } from '../intake/house-number.js';
import { hiddenPackageError } from '../shared/hidden-package.js';
import { packageHasCourier } from '../shared/queries.js';
import type { RequestedFields } from './fields.js';
import { findNumber, hasScans, lockedPackage, packageOfNumber, type Editable } from './queries.js';

export type LockedPackage = {
  row: Editable;
  /** Whether another package has the new number, or any package has it as its house number. */
  isNumberTaken: boolean;
  /** Whether scans of stations are stored for the old or the new number. */
  isScanned: boolean;
};

/**
 * Selects and locks the package. If the change can affect pre-alerts, first locks the parcels of the old and
 * the new number, and keeps the new user code.
 * @throws ApiError package_not_found, record_forbidden
 */
export async function lockPackageAndParcels(
  tx: UserTx,
  id: string,
  input: RequestedFields,
): Promise<LockedPackage> {
  const locked = new Set<string>();
  // A courier cannot change the number. Waiting for the lock of the number it sends would reveal whether that
  // parcel exists.
  const newNumber = tx.caller.courierId === null ? input.tracking_number : undefined;
  const numbers = readScan(newNumber ?? '').numbers;
  if (newNumber !== undefined || input.user_code) {
    const [found] = await tx.query(findNumber(tx, id));
    const keys = found ? [keysOfStored(found), ...numbers.map((number) => number.keys)] : [];
    for (const key of keys.flat()) locked.add(key);
    if (input.user_code) tx.later(keepUserCode(tx.tenantId, input.user_code));
    if (newNumber !== undefined) tx.later(joinCorrections(tx.tenantId));
    // Locked before the row, as intake does: two different orders would deadlock.
    tx.later(lockParcels(tx.tenantId, [...locked]));
  }
  const { row, isNumberTaken, isScanned } = await selectLocked(tx, id, numbers, [...locked]);
  if (!row) throw await findHiddenPackageError(tx, id);
  if (locked.size === 0 || locked.has(row.tracking_key)) return { row, isNumberTaken, isScanned };
  // A concurrent update has changed the number. If this lock deadlocks, PostgreSQL cancels one transaction
  // and it is retried. Scans of that number were not looked for.
  tx.later(lockParcels(tx.tenantId, keysOfPackage(row)));
  return { row, isNumberTaken, isScanned: true };
}

type Selected = Omit<LockedPackage, 'row'> & { row?: Editable };

/** Selects the package, and in the same round trip whether its new number is taken, and whether scans are stored. */
async function selectLocked(
  tx: UserTx,
  id: string,
  numbers: ScannedNumber[],
  locked: string[],
): Promise<Selected> {
  if (numbers.length === 0) {
    const [row] = await tx.query(lockedPackage(tx, id));
    return { ...(row ? { row } : {}), isNumberTaken: false, isScanned: false };
  }
  const keys = numbers.flatMap((number) => number.keys);
  const houseNumbers = numbers.map(({ folded }) => folded).filter(isHouseNumber);
  const [[row], taken, [scans]] = await tx.query([
    lockedPackage(tx, id),
    packageOfNumber(tx, id, keys, houseNumbers),
    hasScans(tx, locked),
  ]);
  return {
    ...(row ? { row } : {}),
    isNumberTaken: taken.length > 0,
    isScanned: scans?.isScanned === true,
  };
}

/** Returns the keys that rows of the package's parcel can have, the package's own first. */
export const keysOfPackage = ({ tracking_key, tracking_number }: Editable): string[] =>
  keysOfStored({ trackingKey: tracking_key, trackingNumber: tracking_number });

async function findHiddenPackageError(tx: UserTx, id: string): Promise<ApiError> {
  const { caller } = tx;
  if (caller.courierId === null) return hiddenPackageError(caller, false);
  const [hidden] = await tx.query(packageHasCourier(id));
  return hiddenPackageError(caller, hidden?.isCouriers === true);
}
