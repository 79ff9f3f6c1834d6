import { differenceOf } from '../../../platform/audit/difference.js';
import { audit, auditLater, type AuditFact } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf, ManifestStatus } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { checkAwb, type AwbCheck, newSuffix } from './awb.js';
import { findPackageAboard, lockedManifestPackages } from './package-queries.js';
import { FIELD_NAMES, mergeFields, NO_FIELDS, type ManifestFields } from './fields.js';
import { passGate } from './loading-gate.js';
import { lockManifest } from './locked.js';
import {
  changeManifest,
  findAirline,
  findWarehouse,
  insertManifest,
  removeManifest,
  type ManifestRow,
} from './queries.js';
import { OPTIONAL_EVENT_BYTES } from '../../webhooks/public.js';
import { assertNothingLoaded } from './loaded.js';
import { applyStatusToPackages, type Moved } from './transitions.js';

type ManageBody = BodyOf<'manageManifest'>;
type Creation = BodyOf<'createManifest'> & Omit<Extract<ManageBody, { action: 'create_manifest' }>, 'action'>;
type MetaUpdate = Extract<ManageBody, { action: 'update_meta' }>;

/** With 10,000 manifests on one day, 10 consecutive numbers are in use once in 10^22 creations. */
const NUMBER_TRIES = 10;

/** What a package with a new status takes, with its event and its delivery: 1.7 to 1.9 KB were measured. */
const MOVED_BYTES = 2 * 1024;

export type CreatedManifest = { id: string; manifestNumber: string; awbCheck: AwbCheck };

/** Without a warehouse, the primary one is used. @throws ApiError warehouse_not_found */
export async function createManifest(ctx: UserContext, wanted: Creation): Promise<CreatedManifest> {
  return ctx.write(async (tx) => {
    const fields = mergeFields(NO_FIELDS, wanted);
    const [[warehouse], [airline]] = await tx.query([
      findWarehouse(ctx, wanted.warehouse_id),
      findAirline(ctx, fields.airline_prefix),
    ]);
    if (!warehouse) throw new ApiError('warehouse_not_found');
    const draft = { ...fields, id: newId(), warehouse_id: warehouse.id };
    const manifestNumber = await insertUnderFreeNumber(tx, draft);
    const { id: entityId, ...stored } = draft;
    const after = { manifest_number: manifestNumber, status: 'draft', ...stored, ...airlineFact(airline) };
    auditLater(tx, 'manifest.created', entityId, { after, remarks: wanted.remarks });
    return { id: entityId, manifestNumber, awbCheck: checkAwb(draft.awb_number) };
  });
}

type UpdatedManifest = { status: ManifestStatus; awbCheck: AwbCheck; isChanged: boolean };

/**
 * Changes the given fields that differ, moves the manifest one step, or both. Without a difference it writes
 * nothing.
 *
 * @throws ApiError manifest_not_found, manifest_invalid_transition, permission_denied
 */
export async function updateManifest(ctx: UserContext, wanted: MetaUpdate): Promise<UpdatedManifest> {
  const { moved, ...updated } = await ctx.write(async (tx) => {
    const before = await lockManifest(tx, wanted.manifest_id);
    const status = wanted.status ?? before.status;
    assertStep(before.status, status);
    const after = { ...before, ...mergeFields(before, wanted), status };
    await passGate(tx, before, after, wanted.loading_override_reason);
    const { isChanged, moved } = await saveDifference(tx, before, after, wanted.remarks);
    return { status, awbCheck: checkAwb(after.awb_number), isChanged, moved };
  });
  // The request names no package.
  ctx.noteWrites({ furtherBytes: moved.packages * MOVED_BYTES + moved.events * OPTIONAL_EVENT_BYTES });
  return updated;
}

/**
 * Deletes a manifest without packages. While it is ready, nothing may be loaded for it either: nobody could take that off afterwards.
 * @throws ApiError manifest_not_found, manifest_not_empty
 */
export async function deleteManifest(ctx: UserContext, manifestId: string): Promise<void> {
  await ctx.write(async (tx) => {
    const { id, isWarehouseGated: _, ...before } = await lockManifest(tx, manifestId);
    const [aboard] = await tx.query(findPackageAboard(ctx, id));
    if (aboard) throw new ApiError('manifest_not_empty');
    if (before.status === 'ready') await assertNothingLoaded(tx, id, 'manifest_not_empty');
    tx.later(removeManifest(ctx, id));
    auditLater(tx, 'manifest.deleted', id, { before });
  });
}

type Draft = ManifestFields & { id: string; warehouse_id: string };

async function insertUnderFreeNumber(tx: UserTx, draft: Draft): Promise<string> {
  for (let tried = 0; tried < NUMBER_TRIES; tried += 1) {
    const [inserted] = await tx.query(insertManifest(tx, { ...draft, suffix: newSuffix() }));
    if (inserted) return inserted.manifestNumber;
  }
  throw new Error(`${NUMBER_TRIES} consecutive manifest numbers were already in use.`);
}

type Saved = { isChanged: boolean; moved: Moved };

const NOTHING: Moved = { packages: 0, events: 0 };

/** Writes the differing fields and everything that follows from them. */
async function saveDifference(
  tx: UserTx,
  before: ManifestRow,
  after: ManifestRow,
  remarks?: string,
): Promise<Saved> {
  const facts = await listFacts(tx, before, after);
  if (facts.length === 0) return { isChanged: false, moved: NOTHING };
  const moved = await updateRow(tx, before, after);
  tx.later(
    audit(
      tx,
      ...facts.map((fact) => ({ ...fact, entity: 'manifest' as const, entityId: after.id, remarks })),
    ),
  );
  return { isChanged: true, moved };
}

/** Writes the row and, with a new status, what that means for its packages. */
async function updateRow(tx: UserTx, before: ManifestRow, after: ManifestRow): Promise<Moved> {
  const isMoved = after.status !== before.status;
  const [updated, aboard] = await tx.query([
    changeManifest(tx, before.status, after),
    lockedManifestPackages(tx, isMoved ? after.id : null),
  ]);
  if (updated.length !== 1) throw new Error(`${updated.length} manifests were updated under one lock.`);
  return isMoved ? applyStatusToPackages(tx, after, aboard) : NOTHING;
}

type Fact = Omit<AuditFact, 'entity' | 'entityId'>;

/** A change of fields and a change of status are two audit entries, even if one request makes both. */
async function listFacts(tx: UserTx, before: ManifestRow, after: ManifestRow): Promise<Fact[]> {
  const facts: Fact[] = [];
  const difference = differenceOf<ManifestFields>(before, after, FIELD_NAMES);
  if (difference) {
    const hasNewPrefix = 'airline_prefix' in difference.after;
    const [airline] = hasNewPrefix ? await tx.query(findAirline(tx, after.airline_prefix)) : [];
    facts.push({
      action: 'manifest.updated',
      before: difference.before,
      after: { ...difference.after, ...airlineFact(airline) },
    });
  }
  if (before.status !== after.status) {
    const [from, to] = [{ status: before.status }, { status: after.status }];
    facts.push({ action: 'manifest.status_changed', before: from, after: to });
  }
  return facts;
}

/** The airline of the prefix, for readers of the audit trail. */
const airlineFact = (airline: { name: string } | undefined) => (airline ? { airline: airline.name } : {});

const NEXT = {
  draft: 'ready',
  ready: 'shipped',
  shipped: 'completed',
  completed: null,
} satisfies Record<ManifestStatus, ManifestStatus | null>;

/** @throws ApiError manifest_invalid_transition unless `to` is the current status or its next step */
function assertStep(from: ManifestStatus, to: ManifestStatus): void {
  const next = NEXT[from];
  if (to === from || to === next) return;
  throw next
    ? new ApiError('manifest_invalid_transition', { args: { status: from, next } })
    : new ApiError('manifest_invalid_transition', { variant: 'final', args: { status: from } });
}
