import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { assertNothingLoaded } from './loaded.js';
import { lockManifest } from './locked.js';
import { changeManifest } from './queries.js';

type Reopening = Extract<BodyOf<'manageManifest'>, { action: 'reopen_manifest' }>;

/**
 * Moves a manifest from `ready` back to `draft`. Its packages stay on it. Returns whether it was not a draft already.
 * @throws ApiError manifest_not_found; manifest_invalid_transition if it has left, or while a parcel is loaded for it: scans load
 * and unload only for a manifest that is ready, so nobody could take the parcel off a draft
 */
export async function reopenManifest(
  ctx: UserContext,
  { manifest_id: id, remarks }: Reopening,
): Promise<boolean> {
  return ctx.write(async (tx) => {
    const manifest = await lockManifest(tx, id);
    const { status } = manifest;
    if (status === 'draft') return false;
    if (status !== 'ready')
      throw new ApiError('manifest_invalid_transition', { variant: 'left', args: { status } });
    await assertNothingLoaded(tx, id, 'manifest_invalid_transition');
    const updated = await tx.query(changeManifest(tx, status, { ...manifest, status: 'draft' }));
    if (updated.length !== 1) throw new Error(`${updated.length} manifests were updated under one lock.`);
    auditLater(tx, 'manifest.status_changed', id, {
      before: { status },
      after: { status: 'draft' },
      remarks,
    });
    return true;
  });
}
