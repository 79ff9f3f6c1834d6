import type { BulkTx, UserContext } from '../../../platform/context/request-context.js';
import { hasPermission, type Permission } from '../../../platform/access/permissions.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import { readOpenLoad } from '../../scans/public.js';
import { storeOverride, type ManifestRow } from './queries.js';

/** Whoever may turn the gate of a warehouse off may also do so for one manifest, or once. See decision 0062. */
const PERMISSION: Permission = 'warehouse:manage';

/** Limits the response. ManifestLoading has all. */
const MAX_NAMED = 100;

/**
 * Lets a locked manifest be shipped if its gate is off or its load is complete, or with the reason of an override, which it
 * records. Only some roles may change the manifest's gate or override it.
 * @throws ApiError permission_denied, manifest_invalid_transition
 */
export async function passGate(
  ctx: UserContext,
  tx: BulkTx,
  before: ManifestRow,
  after: ManifestRow,
  reason: string | undefined,
): Promise<void> {
  if (after.loading_gate !== before.loading_gate) assertMayDecide(ctx, 'loading_gate');
  const isShipping = before.status !== after.status && after.status === 'shipped';
  if (!isShipping || !isGated(after)) return;
  const { missing, extra, open } = await readOpenLoad(ctx, tx, after.id, MAX_NAMED);
  if (missing + extra === 0) return;
  if (reason === undefined) throw notLoaded({ missing, extra, open });
  assertMayDecide(ctx, 'loading_override_reason');
  await tx.defer(storeOverride(ctx, after.id, { reason, missing, extra }));
  await tx.audit({
    action: 'manifest.gate_overridden',
    entity: 'manifest',
    entityId: after.id,
    after: { missing, extra },
    remarks: reason,
  });
}

function assertMayDecide({ caller }: UserContext, field: 'loading_gate' | 'loading_override_reason'): void {
  if (hasPermission(caller.role, PERMISSION)) return;
  const errors = [fieldError(field, 'managers_only')];
  throw new ApiError('permission_denied', {
    variant: 'loading_gate',
    args: { permission: PERMISSION },
    errors,
  });
}

const isGated = ({ loading_gate: own, isWarehouseGated }: ManifestRow): boolean =>
  own === 'warehouse' ? isWarehouseGated : own === 'on';

function notLoaded({ missing, extra, open }: Awaited<ReturnType<typeof readOpenLoad>>): ApiError {
  const errors = open
    .slice(0, MAX_NAMED)
    .map(({ reason, trackingNumber: number, houseNumber }) =>
      reason === null
        ? fieldError('status', 'not_loaded', { house: houseNumber ?? '', number })
        : fieldError('status', 'extra', { number, reason }),
    );
  return new ApiError('manifest_invalid_transition', {
    variant: 'not_loaded',
    args: { missing, extra },
    errors,
  });
}
