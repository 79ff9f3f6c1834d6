import type { UserContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { Tx } from '../../../platform/db/scope.js';
import { lockedManifest, type ManifestRow } from './queries.js';

/**
 * Selects a manifest and locks it until the end of the transaction.
 * @throws ApiError manifest_not_found
 */
export async function lockManifest(ctx: UserContext, tx: Tx, id: string): Promise<ManifestRow> {
  const [manifest] = await tx.query(lockedManifest(ctx, id));
  if (!manifest) throw new ApiError('manifest_not_found');
  return manifest;
}
