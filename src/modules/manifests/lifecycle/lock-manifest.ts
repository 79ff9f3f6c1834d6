import type { UserContext } from '../../../platform/context/request-context.js';
import type { PlainTx } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { findManifest, lockedManifest, type ManifestRow } from './queries.js';

/**
 * Selects a manifest and locks it until the end of the transaction.
 * @throws ApiError manifest_not_found
 */
export async function lockManifest(ctx: UserContext, tx: PlainTx, id: string): Promise<ManifestRow> {
  const [, [manifest]] = await tx.queryAll([lockedManifest(ctx, id), findManifest(ctx, id)]);
  if (!manifest) throw new ApiError('manifest_not_found');
  return manifest;
}
