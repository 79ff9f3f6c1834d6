import type { UserTx } from '../../../platform/db/scope.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import { readAllLoaded } from '../../scans/public.js';
import { MAX_NAMED } from './locked.js';

/**
 * Refuses a change while parcels are loaded for a manifest, and names them. To be called after the lock of the manifest, which every batch
 * with a load of it shares until its positions are committed.
 */
export async function assertNothingLoaded(
  tx: UserTx,
  manifestId: string,
  code: 'manifest_invalid_transition' | 'manifest_not_empty',
): Promise<void> {
  const { total, trackingNumbers } = await readAllLoaded(tx, manifestId, MAX_NAMED);
  if (total === 0) return;
  throw new ApiError(code, {
    variant: 'still_loaded',
    args: { loaded: total },
    errors: trackingNumbers.map((number) => fieldError('manifest_id', 'still_loaded', { number })),
  });
}
