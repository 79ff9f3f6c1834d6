import { auditStatement } from '../../../platform/audit/audit.js';
import { transaction } from '../../../platform/db/transaction.js';
import { ApiError, type FieldProblem } from '../../../platform/errors/errors.js';
import { fieldsByPackageId, listErrors, packageNotFound } from '../../packages/public.js';
import { assignPackages, lockPackages, releasePackages, type CargoRow } from '../lifecycle/cargo-queries.js';
import type { Change, Ctx } from '../shared/context.js';
import { requireManifestForUpdate } from '../lifecycle/manifest.js';
import type { ManifestRow } from '../lifecycle/queries.js';

/** Adds packages to an open manifest, all or none. Returns how many were not on it before. */
export async function addPackages(change: Change, manifestId: string, packageIds: string[]): Promise<number> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const manifest = await openForCargo(ctx, manifestId);
    const cargo = await lockAcceptablePackages(ctx, packageIds, (row) => whyNotAddable(row, manifest.id));
    const ids = cargo.filter((row) => row.manifest_id === null).map(({ id }) => id);
    if (ids.length === 0) return 0;
    assertAll(await assignPackages(ctx, manifest.id, ids), ids);
    await recordCargo(ctx, 'manifest.packages_added', manifest.id, ids);
    return ids.length;
  });
}

/** Removes packages from an open manifest, all or none. Returns how many were removed. */
export async function removePackages(
  change: Change,
  manifestId: string,
  packageIds: string[],
): Promise<number> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const manifest = await openForCargo(ctx, manifestId);
    const cargo = await lockAcceptablePackages(ctx, packageIds, (row) => whyNotRemovable(row, manifest.id));
    const ids = cargo.map(({ id }) => id);
    assertAll(await releasePackages(ctx, manifest.id, ids), ids);
    await recordCargo(ctx, 'manifest.packages_removed', manifest.id, ids);
    return ids.length;
  });
}

async function openForCargo(ctx: Ctx, manifestId: string): Promise<ManifestRow> {
  const manifest = await requireManifestForUpdate(ctx, manifestId);
  if (manifest.status === 'draft' || manifest.status === 'ready') return manifest;
  throw new ApiError('manifest_closed', { args: { status: manifest.status } });
}

/**
 * Selects and locks the packages.
 * @throws ApiError package_not_found if one does not exist; packages_not_assignable if `whyNot` rejects one
 */
async function lockAcceptablePackages(
  ctx: Ctx,
  packageIds: string[],
  whyNot: (row: CargoRow) => FieldProblem | undefined,
): Promise<CargoRow[]> {
  const fields = fieldsByPackageId(packageIds);
  const cargo = await lockPackages(ctx, [...fields.keys()]);
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

function whyNotAddable({ id, status, manifest_id }: CargoRow, manifestId: string): FieldProblem | undefined {
  if (manifest_id === manifestId) return undefined;
  if (manifest_id !== null) return ['on_another_manifest', { id }];
  // A package that is on hold, or no longer in the warehouse, cannot be shipped.
  if (status === 'received') return undefined;
  return ['not_available', { id, status }];
}

function whyNotRemovable({ id, manifest_id }: CargoRow, manifestId: string): FieldProblem | undefined {
  if (manifest_id === manifestId) return undefined;
  return ['not_on_manifest', { id }];
}

/** The rows are locked, so a lower number means that a filter contradicts its check. */
function assertAll(changed: number, ids: string[]): void {
  if (changed !== ids.length) throw new Error(`${changed} of ${ids.length} packages were changed.`);
}

async function recordCargo(
  ctx: Ctx,
  action: string,
  manifestId: string,
  packageIds: string[],
): Promise<void> {
  const fact = {
    action,
    entity: 'manifest',
    entityId: manifestId,
    after: { package_ids: packageIds },
  } as const;
  await ctx.tx.execute(auditStatement(ctx.caller, ctx.requestId, [fact]));
}
