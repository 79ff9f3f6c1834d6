import { auditLater } from '../../../platform/audit/audit.js';
import { hasPermission, type Permission } from '../../../platform/access/permissions.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { SUSPENDED } from '../../packages/public.js';
import { readOpenLoad } from '../../scans/public.js';
import { MAX_NAMED } from './locked.js';
import { leaveBehind, lockedManifestPackages } from './package-queries.js';
import { storeOverride, type ManifestRow } from './queries.js';

/** Whoever may turn the gate of a warehouse off may also do so for one manifest, or once. See decision 0062. */
const PERMISSION: Permission = 'warehouse:manage';

/**
 * Lets a locked manifest be shipped if its gate is off or its load is complete, or with the reason of an override, which it
 * records. Only some roles may change the manifest's gate or override it. Suspended packages that were not loaded leave the
 * manifest: their release would otherwise ship them without a scan.
 * @throws ApiError permission_denied, manifest_invalid_transition
 */
export async function passGate(
  tx: UserTx,
  before: ManifestRow,
  after: ManifestRow,
  reason: string | undefined,
): Promise<void> {
  if (after.loading_gate !== before.loading_gate) assertMayDecide(tx, 'loading_gate');
  const isShipping = before.status !== after.status && after.status === 'shipped';
  if (!isShipping || !isGated(after)) return;
  // Locked before the comparison: a package that is released after it would be shipped without a scan.
  tx.later(lockedManifestPackages(tx, after.id));
  const load = await readOpenLoad(tx, after.id, MAX_NAMED);
  if (load.missing + load.extra > 0) await override(tx, after, load, reason);
  await leaveSuspendedBehind(tx, after.id);
}

type OpenLoad = Awaited<ReturnType<typeof readOpenLoad>>;

async function override(
  tx: UserTx,
  after: ManifestRow,
  { missing, extra, open }: OpenLoad,
  reason: string | undefined,
): Promise<void> {
  if (reason === undefined) throw notLoaded({ missing, extra, open });
  assertMayDecide(tx, 'loading_override_reason');
  tx.later(storeOverride(tx, after.id, { reason, missing, extra }));
  auditLater(tx, 'manifest.gate_overridden', after.id, { after: { missing, extra }, remarks: reason });
}

async function leaveSuspendedBehind(tx: UserTx, manifestId: string): Promise<void> {
  const left = await tx.query(leaveBehind(tx, manifestId, [...SUSPENDED]));
  if (left.length === 0) return;
  auditLater(tx, 'manifest.packages_removed', manifestId, {
    after: { package_ids: left.map(({ id }) => id) },
    remarks: 'Not loaded: on hold or lost when the manifest was shipped.',
  });
}

function assertMayDecide({ caller }: UserTx, field: 'loading_gate' | 'loading_override_reason'): void {
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

function notLoaded({ missing, extra, open }: OpenLoad): ApiError {
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
