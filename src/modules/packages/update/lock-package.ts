import { keepUserCode } from '../../../platform/db/locks.js';
import type { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { keysOfStored, readScan, type ScannedNumber } from '../../tracking-numbers/public.js';
import { isHouseNumber } from '../intake/house-number.js';
import { lockLooked } from '../intake/lock-identified.js';
import { packageHasCourier, hiddenPackageError } from '../shared/queries.js';
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
 * @throws ApiError package_not_found, record_forbidden, overloaded
 */
export async function lockPackageAndParcels(
  tx: UserTx,
  id: string,
  input: RequestedFields,
): Promise<LockedPackage> {
  // A courier cannot change the number. Waiting for the lock of the number it sends would reveal whether that
  // parcel exists.
  const newNumber = tx.caller.courierId === null ? input.tracking_number : undefined;
  if (newNumber === undefined && !input.user_code) return selectLocked(tx, id, { numbers: [], locked: [] });
  const { numbers } = readScan(newNumber ?? '');
  const newKeys = numbers.flatMap(({ keys }) => keys);
  if (input.user_code) tx.later(keepUserCode(tx.tenantId, input.user_code));
  // Locked before the row, as intake does: two different orders would deadlock.
  return lockLooked(tx, {
    look: async () => ({ keys: await findKeys(tx, id, newKeys) }),
    identify: (locked) => selectLocked(tx, id, { numbers, locked }),
    isCorrection: newNumber !== undefined,
  });
}

/** Returns the keys that lock the parcels of a package and of its new number. @throws ApiError package_not_found, record_forbidden */
export async function findKeys(tx: UserTx, id: string, newKeys: string[]): Promise<string[]> {
  const [found] = await tx.query(findNumber(tx, id));
  if (!found) throw await findHiddenPackageError(tx, id);
  return [...new Set([...keysOfStored(found), ...newKeys])];
}

/** Selects the package, and in the same round trip whether its new number is taken, and whether scans are stored. */
async function selectLocked(
  tx: UserTx,
  id: string,
  { numbers, locked }: { numbers: ScannedNumber[]; locked: readonly string[] },
): Promise<LockedPackage & { keys: string[] }> {
  const newKeys = numbers.flatMap(({ keys }) => keys);
  const houseNumbers = numbers.map(({ folded }) => folded).filter(isHouseNumber);
  const [[row], taken, [scans]] =
    numbers.length === 0
      ? [await tx.query(lockedPackage(tx, id)), [], []]
      : await tx.query([
          lockedPackage(tx, id),
          packageOfNumber(tx, id, newKeys, houseNumbers),
          hasScans(tx, locked),
        ]);
  if (!row) throw await findHiddenPackageError(tx, id);
  return {
    row,
    keys: [...keysOfPackage(row), ...newKeys],
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
