import type { ContextTx, UserContext } from '../../../platform/context/request-context.js';
import type { PlainTx } from '../../../platform/db/statements.js';
import { ApiError, type FieldProblem } from '../../../platform/errors/errors.js';
import { fieldsByPackageId, listErrors, packageNotFound } from '../../packages/public.js';
import {
  assignPackages,
  lockedPackages,
  releasePackages,
  type CargoRow,
} from '../lifecycle/cargo-queries.js';
import { lockManifest } from '../lifecycle/lock-manifest.js';
import type { ManifestRow } from '../lifecycle/queries.js';

/** Adds packages to an open manifest, all or none. Returns how many were not on it before. */
export async function addPackages(
  ctx: UserContext,
  manifestId: string,
  packageIds: string[],
): Promise<number> {
  return ctx.transaction(async (tx) => {
    const manifest = await lockOpenManifest(ctx, tx, manifestId);
    const cargo = await lockAcceptablePackages(ctx, tx, packageIds, (row) => whyNotAddable(row, manifest.id));
    const ids = cargo.filter((row) => row.manifestId === null).map(({ id }) => id);
    if (ids.length === 0) return 0;
    assertAll(await tx.execute(assignPackages(ctx, manifest.id, ids)), ids);
    await auditCargo(tx, 'manifest.packages_added', manifest.id, ids);
    return ids.length;
  });
}

/** Removes packages from an open manifest, all or none. Returns how many were removed. */
export async function removePackages(
  ctx: UserContext,
  manifestId: string,
  packageIds: string[],
): Promise<number> {
  return ctx.transaction(async (tx) => {
    const manifest = await lockOpenManifest(ctx, tx, manifestId);
    const cargo = await lockAcceptablePackages(ctx, tx, packageIds, (row) =>
      whyNotRemovable(row, manifest.id),
    );
    const ids = cargo.map(({ id }) => id);
    assertAll(await tx.execute(releasePackages(ctx, manifest.id, ids)), ids);
    await auditCargo(tx, 'manifest.packages_removed', manifest.id, ids);
    return ids.length;
  });
}

/** @throws ApiError manifest_not_found, manifest_closed */
async function lockOpenManifest(ctx: UserContext, tx: PlainTx, manifestId: string): Promise<ManifestRow> {
  const manifest = await lockManifest(ctx, tx, manifestId);
  if (manifest.status === 'draft' || manifest.status === 'ready') return manifest;
  throw new ApiError('manifest_closed', { args: { status: manifest.status } });
}

/**
 * Selects and locks the packages.
 * @throws ApiError package_not_found if one does not exist; packages_not_assignable if `whyNot` rejects one
 */
async function lockAcceptablePackages(
  ctx: UserContext,
  tx: PlainTx,
  packageIds: string[],
  whyNot: (row: CargoRow) => FieldProblem | undefined,
): Promise<CargoRow[]> {
  const fields = fieldsByPackageId(packageIds);
  const cargo = await tx.query(lockedPackages(ctx, [...fields.keys()]));
  const found = new Map(cargo.map((row) => [row.id, row]));

  const missing = listErrors(fields, (id) => (found.has(id) ? undefined : packageNotFound(id)));
  if (missing.length > 0) throw new ApiError('package_not_found', { variant: 'several', errors: missing });

  const refused = listErrors(fields, (id) => {
    const row = found.get(id);
    return row && whyNot(row);
  });
  if (refused.length > 0) throw new ApiError('packages_not_assignable', { errors: refused });
  return cargo;
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

async function auditCargo(
  tx: ContextTx,
  action: string,
  manifestId: string,
  packageIds: string[],
): Promise<void> {
  const after = { package_ids: packageIds };
  await tx.audit({ action, entity: 'manifest', entityId: manifestId, after });
}
