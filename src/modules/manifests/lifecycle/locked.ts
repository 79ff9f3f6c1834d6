import type { UserTx } from '../../../platform/db/scope.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { findManifest, lockedManifest, type ManifestRow } from './queries.js';

/** The parcels that a refused step names. ManifestLoading has all. */
export const MAX_NAMED = 100;

/**
 * Selects a manifest and locks it until the end of the transaction.
 * @throws ApiError manifest_not_found
 */
export async function lockManifest(tx: UserTx, id: string): Promise<ManifestRow> {
  const [, [manifest]] = await tx.query([lockedManifest(tx, id), findManifest(tx, id)]);
  if (!manifest) throw new ApiError('manifest_not_found');
  return manifest;
}
