import { lockParcels, stopCorrections } from '../../../platform/db/locks.js';
import { sql } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';

/** Each repetition needs another change of a number between a look and the lock that follows it. After two, corrections wait. */
const LOCKS_BESIDE_CORRECTIONS = 2;
const MAX_LOCKS = 6;

/**
 * Locks the parcels that records tell, for example the package of a house number. Looks again under the locks, and repeats if the
 * records tell other parcels now: the number of the package may have been corrected while the lock was awaited. Rolling back to the
 * savepoint releases the locks, so that those of the next parcels are taken in order: with two orders, transactions deadlock.
 *
 * @param identify reads the records, and returns the keys of the parcels
 * @throws ApiError unavailable if the records tell other parcels each time
 */
export async function lockIdentified<Found extends { keys: string[] }>(
  tx: UserTx,
  identify: () => Promise<Found>,
): Promise<Found> {
  let wanted = (await identify()).keys;
  tx.later(sql`savepoint before_locks`);
  for (let locks = 0; locks < MAX_LOCKS; locks += 1) {
    tx.later(lockParcels(tx.tenantId, wanted));
    const locked = new Set(wanted);
    const found = await identify();
    if (found.keys.every((key) => locked.has(key))) {
      tx.later(sql`release savepoint before_locks`);
      return found;
    }
    tx.later(sql`rollback to savepoint before_locks`);
    wanted = found.keys;
    if (locks + 1 < LOCKS_BESIDE_CORRECTIONS) continue;
    tx.later(stopCorrections(tx.tenantId));
    wanted = (await identify()).keys;
  }
  throw new ApiError('unavailable', { retryAfterSeconds: 1 });
}
