import { joinCorrections, lockParcels, stopCorrections } from '../../../platform/db/locks.js';
import type { Tx } from '../../../platform/db/scope.js';
import { once } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';

/** Locks are taken again if a number was changed between the look and the lock. The third time, no correction can change one meanwhile. */
const LOCKS_BESIDE_CORRECTIONS = 2;
const MAX_LOCKS = 6;

type Parcels = { keys: readonly string[] };

/** How records are locked whose number may change. */
export type Identification<Found extends Parcels> = {
  /** Returns the keys of the parcels before they are locked. */
  look(): Promise<Parcels>;
  /** Reads the records under the locks of these keys, and may lock rows. */
  identify(locked: readonly string[]): Promise<Found>;
  /** Whether the transaction changes the number of a parcel. */
  isCorrection?: boolean;
};

/**
 * Locks the parcels that records tell, for example the package of a house number. Looks again under the locks, and repeats if the
 * records tell other parcels now: the number of the package may have been corrected while the lock was awaited. Rolling back to the
 * savepoint releases the locks, so that those of the next parcels are taken in order: with two orders, transactions deadlock.
 *
 * @param identify reads the records, and returns the keys of the parcels
 * @throws ApiError overloaded if the records tell other parcels each time
 */
export const lockIdentified = <Found extends Parcels>(
  tx: Tx,
  identify: () => Promise<Found>,
): Promise<Found> => lockLooked(tx, { look: identify, identify });

/**
 * Locks parcels like `lockIdentified`, but finds them before the locks with `look`, which is cheaper than `identify`. A correction shares the
 * lock of corrections until it stops the others.
 */
export async function lockLooked<Found extends Parcels>(
  tx: Tx,
  { look, identify, isCorrection = false }: Identification<Found>,
): Promise<Found> {
  let wanted = (await look()).keys;
  tx.later(once`savepoint before_locks`);
  for (let locks = 0; locks < MAX_LOCKS; locks += 1) {
    if (isCorrection && locks < LOCKS_BESIDE_CORRECTIONS) tx.later(joinCorrections(tx.tenantId));
    tx.later(lockParcels(tx.tenantId, wanted));
    const locked = new Set(wanted);
    const found = await identify(wanted);
    if (found.keys.every((key) => locked.has(key))) {
      tx.later(once`release savepoint before_locks`);
      return found;
    }
    tx.later(once`rollback to savepoint before_locks`);
    wanted = found.keys;
    if (locks + 1 < LOCKS_BESIDE_CORRECTIONS) continue;
    tx.later(stopCorrections(tx.tenantId));
    wanted = (await look()).keys;
  }
  throw new ApiError('overloaded', { retryAfterSeconds: 1 });
}
