import { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { findManifest, lockedManifest, type ManifestRow } from './queries.js';

/**
 * Selects a manifest and locks it until the end of the transaction.
 * @throws ApiError manifest_not_found
 */
export async function lockManifest(tx: UserTx, id: string): Promise<ManifestRow> {
  const [, [manifest]] = await tx.query([lockedManifest(tx, id), findManifest(tx, id)]);
  if (!manifest) throw new ApiError('manifest_not_found');
  return manifest;
}
