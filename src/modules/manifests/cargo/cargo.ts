import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { ApiError, type FieldProblem } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { assertAllExist, fieldsByPackageId, listErrors } from '../../packages/public.js';
import {
  assignPackages,
  countPackagesAboard,
  lockedPackages,
  releasePackages,
  type CargoRow,
} from './queries.js';
import { lockedManifest, type ManifestRow } from '../lifecycle/queries.js';

/** A flight has some thousands of packages. Reading, shipping and mailing a manifest costs memory and time for each. */
const MAX_PACKAGES = 10_000;

/**
 * Adds packages to an open manifest, all or none. Returns how many were not on it before.
 * @throws ApiError manifest_full, and as lockCargo does
 */
export async function addPackages(
  ctx: UserContext,
  manifestId: string,
  packageIds: string[],
): Promise<number> {
  return ctx.write(async (tx) => {
    const cargo = await lockCargo(tx, manifestId, packageIds, whyNotAddable);
    const ids = cargo.filter((row) => row.manifestId === null).map(({ id }) => id);
    if (ids.length === 0) return 0;
    const assigned = await tx.count(assignPackages(ctx, manifestId, ids, MAX_PACKAGES));
    if (assigned === 0) await assertRoom(tx, manifestId, ids.length);
    assertAll(assigned, ids);
    auditLater(tx, 'manifest.packages_added', manifestId, { after: { package_ids: ids } });
    return ids.length;
  });
}

/** Removes packages from an open manifest, all or none. Returns how many were removed. */
export async function removePackages(
  ctx: UserContext,
  manifestId: string,
  packageIds: string[],
): Promise<number> {
  return ctx.write(async (tx) => {
    const cargo = await lockCargo(tx, manifestId, packageIds, whyNotRemovable);
    const ids = cargo.map(({ id }) => id);
    assertAll(await tx.count(releasePackages(ctx, manifestId, ids)), ids);
    auditLater(tx, 'manifest.packages_removed', manifestId, { after: { package_ids: ids } });
    return ids.length;
  });
}

/**
 * Locks an open manifest, then the packages. Returns the packages.
 * @throws ApiError manifest_not_found, manifest_closed; package_not_found if a package does not exist;
 * packages_not_assignable if `whyNot` rejects one
 */
async function lockCargo(
  tx: UserTx,
  manifestId: string,
  packageIds: string[],
  whyNot: (row: CargoRow, manifestId: string) => FieldProblem | undefined,
): Promise<CargoRow[]> {
  const fields = fieldsByPackageId(packageIds);
  const [[manifest], cargo] = await tx.query([
    lockedManifest(tx, manifestId),
    lockedPackages(tx, [...fields.keys()]),
  ]);
  assertOpen(manifest);
  const found = new Map(cargo.map((row) => [row.id, row]));
  assertAllExist(fields, found);
  const refused = listErrors(fields, (id) => {
    const row = found.get(id);
    return row && whyNot(row, manifestId);
  });
  if (refused.length > 0) throw new ApiError('packages_not_assignable', { errors: refused });
  return cargo;
}

async function assertRoom(tx: UserTx, manifestId: string, added: number): Promise<void> {
  const [aboard] = await tx.query(countPackagesAboard(tx, manifestId));
  const count = (aboard?.count ?? 0) + added;
  if (count > MAX_PACKAGES) throw new ApiError('manifest_full', { args: { count, limit: MAX_PACKAGES } });
}

function assertOpen(manifest: Pick<ManifestRow, 'status'> | undefined): void {
  if (!manifest) throw new ApiError('manifest_not_found');
  if (manifest.status === 'draft' || manifest.status === 'ready') return;
  throw new ApiError('manifest_closed', { args: { status: manifest.status } });
}

function whyNotAddable(
  { id, status, manifestId: current }: CargoRow,
  manifestId: string,
): FieldProblem | undefined {
  if (current === manifestId) return undefined;
  if (current !== null) return ['on_another_manifest', { id }];
  // A package that is on hold, or no longer in the warehouse, cannot be shipped.
  if (status === 'received') return undefined;
  return ['not_available', { id, status }];
}

function whyNotRemovable(
  { id, manifestId: current }: CargoRow,
  manifestId: string,
): FieldProblem | undefined {
  if (current === manifestId) return undefined;
  return ['not_on_manifest', { id }];
}

/** The rows are locked, so a lower number means that a filter contradicts its check. */
function assertAll(changed: number, ids: string[]): void {
  if (changed !== ids.length) throw new Error(`${changed} of ${ids.length} packages were changed.`);
}
