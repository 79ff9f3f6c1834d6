import { auditStatement, type AuditFact } from '../audit.js';
import type { BodyOf } from '../contract/types.js';
import { inScope } from '../db/transaction.js';
import { Fault } from '../errors.js';
import { newId } from '../ids.js';
import { airlinePrefix, checkAwb, type AwbCheck } from './awb.js';
import type { Change, Ctx } from './context.js';
import { newSuffix } from './number.js';
import {
  deleteEmptyManifest,
  findAirlineName,
  findWarehouseId,
  insertManifest,
  lockManifest,
  updateManifestRow,
  type ManifestFields,
  type ManifestRow,
} from './queries.js';
import { assertStep, carryStatus, type ManifestStatus } from './transitions.js';

export type Creation = BodyOf<'createManifest'> &
  Omit<Extract<BodyOf<'manageManifest'>, { action: 'create_manifest' }>, 'action'>;
export type MetaUpdate = Extract<BodyOf<'manageManifest'>, { action: 'update_meta' }>;

/** On a day with 10,000 manifests, 10 numbers in a row are taken once in 10^22 creations. */
const NUMBER_TRIES = 10;

export type CreatedManifest = { id: string; manifestNumber: string; awbCheck: AwbCheck };

export async function createManifest(change: Change, wanted: Creation): Promise<CreatedManifest> {
  return inScope(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const warehouseId = await findWarehouseId(ctx, wanted.warehouse_id);
    if (!warehouseId) throw new Fault('warehouse_not_found');
    const draft = { ...mergeFields(NO_FIELDS, wanted), id: newId(), warehouse_id: warehouseId };
    const manifestNumber = await insertUnderFreeNumber(ctx, draft);
    const after = { ...draft, manifest_number: manifestNumber, status: 'draft' };
    await record(ctx, { action: 'manifest.created', entityId: draft.id, after, remarks: wanted.remarks });
    return { id: draft.id, manifestNumber, awbCheck: checkAwb(draft.awb_number) };
  });
}

export type UpdatedManifest = { status: ManifestStatus; awbCheck: AwbCheck; isChanged: boolean };

/** Changes what is sent and differs, moves the manifest one step, or both. No difference writes nothing. */
export async function updateManifest(change: Change, wanted: MetaUpdate): Promise<UpdatedManifest> {
  return inScope(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const before = await openManifest(ctx, wanted.manifest_id);
    const after = { ...before, ...mergeFields(before, wanted), status: wanted.status ?? before.status };
    assertStep(before.status, after.status);
    const isChanged = await saveDifference(ctx, { before, after, remarks: wanted.remarks });
    return { status: after.status, awbCheck: checkAwb(after.awb_number), isChanged };
  });
}

/** Deletes a manifest that nothing is aboard of, whatever its status. */
export async function deleteManifest(change: Change, manifestId: string): Promise<void> {
  await inScope(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const { now: _, id, ...before } = await openManifest(ctx, manifestId);
    if ((await deleteEmptyManifest(ctx, id)) === 0) throw new Fault('manifest_not_empty');
    await record(ctx, { action: 'manifest.deleted', entityId: id, before });
  });
}

/** Reads and holds a manifest. @throws Fault manifest_not_found */
export async function openManifest(ctx: Ctx, manifestId: string): Promise<ManifestRow> {
  const manifest = await lockManifest(ctx, manifestId);
  if (!manifest) throw new Fault('manifest_not_found');
  return manifest;
}

async function insertUnderFreeNumber(ctx: Ctx, draft: ManifestFields & { id: string; warehouse_id: string }) {
  for (let tried = 0; tried < NUMBER_TRIES; tried += 1) {
    const manifestNumber = await insertManifest(ctx, { ...draft, suffix: newSuffix() });
    if (manifestNumber) return manifestNumber;
  }
  throw new Error(`${NUMBER_TRIES} manifest numbers in a row were taken.`);
}

const NO_FIELDS: ManifestFields = {
  awb_number: null,
  airline_prefix: null,
  flight_date: null,
  flight_number: null,
  notes: null,
};

/** The fields with what was sent in their place; blank text empties a field, since null is no text. */
function mergeFields(stored: ManifestFields, sent: Partial<Record<keyof ManifestFields, string>>): ManifestFields {
  const text = (name: keyof ManifestFields) => (sent[name] === undefined ? stored[name] : sent[name].trim() && sent[name]) || null;
  const awb_number = text('awb_number');
  const isAwbSent = sent.awb_number !== undefined;
  const givenPrefix = sent.airline_prefix ?? (isAwbSent ? null : stored.airline_prefix);
  return {
    awb_number,
    airline_prefix: airlinePrefix(isAwbSent ? awb_number : null, givenPrefix),
    flight_date: sent.flight_date ?? stored.flight_date,
    flight_number: text('flight_number'),
    notes: text('notes'),
  };
}
