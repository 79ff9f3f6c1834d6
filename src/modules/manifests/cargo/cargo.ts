import { auditStatement } from '../../../platform/audit/audit.js';
import { transaction } from '../../../platform/db/transaction.js';
import { ApiError, type FieldProblem } from '../../../platform/errors/errors.js';
import { fieldsOf, listErrors, notFound } from '../../packages/public.js';
import { assignPackages, lockPackages, releasePackages, type CargoRow } from '../lifecycle/cargo-queries.js';
import type { Change, Ctx } from '../shared/context.js';
import { openManifest } from '../lifecycle/manifest.js';
import type { ManifestRow } from '../lifecycle/queries.js';

/** Puts packages aboard an open manifest, all or none; answers how many were not aboard already. */
export async function addPackages(change: Change, manifestId: string, packageIds: string[]): Promise<number> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const manifest = await openForCargo(ctx, manifestId);
    const cargo = await lockFitting(ctx, packageIds, (row) => whyNotAddable(row, manifest.id));
    const ids = cargo.filter((row) => row.manifest_id === null).map(({ id }) => id);
    if (ids.length === 0) return 0;
    assertAll(await assignPackages(ctx, manifest.id, ids), ids);
    await recordCargo(ctx, 'manifest.packages_added', manifest.id, ids);
    return ids.length;
  });
}

/** Takes packages off an open manifest, all or none; answers how many that were. */
export async function removePackages(
  change: Change,
  manifestId: string,
  packageIds: string[],
): Promise<number> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const manifest = await openForCargo(ctx, manifestId);
    const cargo = await lockFitting(ctx, packageIds, (row) => whyNotRemovable(row, manifest.id));
    const ids = cargo.map(({ id }) => id);
    assertAll(await releasePackages(ctx, manifest.id, ids), ids);
    await recordCargo(ctx, 'manifest.packages_removed', manifest.id, ids);
    return ids.length;
  });
}

async function openForCargo(ctx: Ctx, manifestId: string): Promise<ManifestRow> {
  const manifest = await openManifest(ctx, manifestId);
  if (manifest.status === 'draft' || manifest.status === 'ready') return manifest;
  throw new ApiError('manifest_closed', { args: { status: manifest.status } });
}

/**
 * Reads and holds the packages.
 *
 * @throws ApiError package_not_found when the tenant lacks one; packages_not_assignable when `whyNot` refuses one
 */
async function lockFitting(
  ctx: Ctx,
  packageIds: string[],
  whyNot: (row: CargoRow) => FieldProblem | undefined,
): Promise<CargoRow[]> {
  const fields = fieldsOf(packageIds);
  const cargo = await lockPackages(ctx, [...fields.keys()]);
  const found = new Map(cargo.map((row) => [row.id, row]));

  const missing = listErrors(fields, (id) => (found.has(id) ? undefined : notFound(id)));
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
  // a parcel on hold, or gone, is not in the warehouse's hands to fly
  if (status === 'received') return undefined;
  return ['not_available', { id, status }];
}

function whyNotRemovable({ id, manifest_id }: CargoRow, manifestId: string): FieldProblem | undefined {
  if (manifest_id === manifestId) return undefined;
  return ['not_on_manifest', { id }];
}

/** The rows are held, so that fewer can only mean that a filter and its check disagree. */
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
