import type { UserContext } from '../../../platform/context/request-context.js';
import { lockParcels } from '../../../platform/db/locks.js';
import type { PlainTx } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';

/** Each repetition needs another change of a number between a look and the lock that follows it. */
const MAX_LOOKS = 6;

/**
 * Locks the parcels that records tell, for example the package of a house number. Looks again under the locks, and repeats if the
 * records tell other parcels now: the number of the package may have been corrected while the lock was awaited. The locks of a
 * repetition are not sorted with the earlier ones. If they deadlock, PostgreSQL cancels one transaction and it is retried.
 *
 * @param identify reads the records, and returns the keys of the parcels
 * @throws ApiError unavailable if the records tell other parcels each time
 */
export async function lockIdentified<Found extends { keys: string[] }>(
  ctx: UserContext,
  tx: PlainTx,
  identify: () => Promise<Found>,
): Promise<Found> {
  const locked = new Set<string>();
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const found = await identify();
    const missing = found.keys.filter((key) => !locked.has(key));
    if (missing.length === 0) return found;
    await tx.defer(lockParcels(ctx.tenantId, missing));
    for (const key of missing) locked.add(key);
  }
  throw new ApiError('unavailable', { retryAfterSeconds: 1 });
}
