import { auditStatement, type AuditFact } from '../../../platform/audit/audit.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { transaction } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { checkAwb, type AwbCheck } from './awb.js';
import type { Change, Ctx } from '../shared/context.js';
import { differenceOf, mergeFields, NO_FIELDS, type ManifestFields } from './fields.js';
import { newSuffix } from './number.js';
import {
  deleteEmptyManifest,
  findAirlineName,
  findWarehouseId,
  insertManifest,
  lockManifest,
  updateManifestRow,
  type ManifestRow,
} from './queries.js';
import { applyStatusToPackages } from './transitions.js';
import { assertStep, type ManifestStatus } from './status.js';

type ManageBody = BodyOf<'manageManifest'>;
type Creation = BodyOf<'createManifest'> & Omit<Extract<ManageBody, { action: 'create_manifest' }>, 'action'>;
type MetaUpdate = Extract<ManageBody, { action: 'update_meta' }>;

/** With 10,000 manifests on one day, 10 consecutive numbers are in use once in 10^22 creations. */
const NUMBER_TRIES = 10;

export type CreatedManifest = { id: string; manifestNumber: string; awbCheck: AwbCheck };

export async function createManifest(change: Change, wanted: Creation): Promise<CreatedManifest> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const warehouseId = await findWarehouseId(ctx, wanted.warehouse_id);
    if (!warehouseId) throw new ApiError('warehouse_not_found');
    const draft = { ...mergeFields(NO_FIELDS, wanted), id: newId(), warehouse_id: warehouseId };
    const manifestNumber = await insertUnderFreeNumber(ctx, draft);
    const airline = await airlineFact(ctx, draft);
    const { id, ...stored } = draft;
    const after = { manifest_number: manifestNumber, status: 'draft', ...stored, ...airline };
    await record(ctx, id, [{ action: 'manifest.created', after, remarks: wanted.remarks }]);
    return { id, manifestNumber, awbCheck: checkAwb(draft.awb_number) };
  });
}

export type UpdatedManifest = { status: ManifestStatus; awbCheck: AwbCheck; isChanged: boolean };

/**
 * Changes the given fields that differ, moves the manifest one step, or both. Without a difference it writes
 * nothing.
 */
export async function updateManifest(change: Change, wanted: MetaUpdate): Promise<UpdatedManifest> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const before = await requireManifestForUpdate(ctx, wanted.manifest_id);
    const status = wanted.status ?? before.status;
    assertStep(before.status, status);
    const after = { ...before, ...mergeFields(before, wanted), status };
    const isChanged = await saveDifference(ctx, before, after, wanted.remarks);
    return { status, awbCheck: checkAwb(after.awb_number), isChanged };
  });
}

/** Deletes a manifest without packages, whatever its status. */
export async function deleteManifest(change: Change, manifestId: string): Promise<void> {
  await transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const { now: _, id, ...before } = await requireManifestForUpdate(ctx, manifestId);
    if ((await deleteEmptyManifest(ctx, id)) === 0) throw new ApiError('manifest_not_empty');
    await record(ctx, id, [{ action: 'manifest.deleted', before }]);
  });
}

/**
 * Selects and locks a manifest.
 * @throws ApiError manifest_not_found
 */
export async function requireManifestForUpdate(ctx: Ctx, manifestId: string): Promise<ManifestRow> {
  const manifest = await lockManifest(ctx, manifestId);
  if (!manifest) throw new ApiError('manifest_not_found');
  return manifest;
}

type Draft = ManifestFields & { id: string; warehouse_id: string };

async function insertUnderFreeNumber(ctx: Ctx, draft: Draft): Promise<string> {
  for (let tried = 0; tried < NUMBER_TRIES; tried += 1) {
    const manifestNumber = await insertManifest(ctx, { ...draft, suffix: newSuffix() });
    if (manifestNumber) return manifestNumber;
  }
  throw new Error(`${NUMBER_TRIES} manifest numbers in a row were taken.`);
}

/** Writes the differing fields and everything that follows from them. Returns whether anything changed. */
async function saveDifference(
  ctx: Ctx,
  before: ManifestRow,
  after: ManifestRow,
  remarks?: string,
): Promise<boolean> {
  const facts = await listFacts(ctx, before, after);
  if (facts.length === 0) return false;
  const written = await updateManifestRow(ctx, before, after);
  if (written !== 1) throw new Error(`${written} manifests were updated under one lock.`);
  if (after.status !== before.status) await applyStatusToPackages(ctx, after);
  await record(
    ctx,
    after.id,
    facts.map((fact) => ({ ...fact, remarks })),
  );
  return true;
}

/** A change of fields and a change of status are two audit entries, even if one request makes both. */
async function listFacts(ctx: Ctx, before: ManifestRow, after: ManifestRow): Promise<Fact[]> {
  const facts: Fact[] = [];
  const difference = differenceOf(before, after);
  if (difference) {
    const airline = 'airline_prefix' in difference.after ? await airlineFact(ctx, after) : {};
    facts.push({
      action: 'manifest.updated',
      before: difference.before,
      after: { ...difference.after, ...airline },
    });
  }
  if (before.status !== after.status) {
    const [from, to] = [{ status: before.status }, { status: after.status }];
    facts.push({ action: 'manifest.status_changed', before: from, after: to });
  }
  return facts;
}

/** Returns the airline of the prefix, for readers of the audit trail. */
async function airlineFact(ctx: Ctx, { airline_prefix }: ManifestFields): Promise<{ airline?: string }> {
  const airline = airline_prefix === null ? undefined : await findAirlineName(ctx, airline_prefix);
  return airline === undefined ? {} : { airline };
}

type Fact = Omit<AuditFact, 'entity' | 'entityId'>;

async function record(ctx: Ctx, manifestId: string, facts: Fact[]): Promise<void> {
  const whole = facts.map((fact) => ({ ...fact, entity: 'manifest' as const, entityId: manifestId }));
  await ctx.tx.execute(auditStatement(ctx.caller, ctx.requestId, whole));
}
