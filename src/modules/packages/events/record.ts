import { auditStatement, type AuditFact } from '../../../platform/audit/audit.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { isCalendarDate } from '../../../platform/contract/validator.js';
import { transaction, type Db, type Tx } from '../../../platform/db/transaction.js';
import {
  ApiError,
  fieldError,
  type FieldProblem,
  invalidFieldError,
} from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { recordPackageEvents } from '../../webhooks/public.js';
import { fieldsByPackageId, listErrors, packageNotFound } from '../shared/batch.js';
import * as queries from './record-queries.js';
import type { EventDetails, Move, PackageStateRow } from './record-queries.js';
import { nextStatuses, statusAfter, type PackageEventKind } from './transitions.js';

type RecordEventRequest = BodyOf<'recordPackageEvent'>;
type Ctx = { db: Db; tx: Tx; caller: UserCaller; requestId: string };

export type RecordedEvent = Move & { occurredAt: string };
export type Recorded = { events: RecordedEvent[]; unchanged: number };

/**
 * Records one event for all given packages, or for none if one is rejected. A package that already has the
 * status is not changed.
 * @throws ApiError validation_failed, package_not_found, package_invalid_transition
 */
export async function recordPackageEvent(
  db: Db,
  caller: UserCaller,
  requestId: string,
  body: RecordEventRequest,
): Promise<Recorded> {
  const fields = readPackages(body);
  const circumstances = readEventDetails(body);
  return transaction(db, caller, async (tx) => {
    const ctx = { db, tx, caller, requestId };
    await assertNotInFuture(ctx, circumstances);
    const standings = await lockPackageStates(ctx, fields);
    const moves = listMoves(fields, standings, body.status);
    assertInOrder(moves, standings, circumstances);
    if (moves.length === 0) return { events: [], unchanged: fields.size };
    return { events: await appendAndMove(ctx, moves, circumstances), unchanged: fields.size - moves.length };
  });
}

/** Returns the package ids of the body, each with the field that contains it. */
function readPackages({ package_id, package_ids }: RecordEventRequest): Map<string, string> {
  if (package_ids) {
    if (package_id === undefined) return fieldsByPackageId(package_ids);
    throw invalidFieldError('package_ids', 'conflict', { other: 'package_id' });
  }
  if (package_id === undefined) throw invalidFieldError('package_id', 'package_required');
  return new Map([[package_id, 'package_id']]);
}

function readEventDetails({ occurred_at, location, remarks }: RecordEventRequest): EventDetails {
  if (occurred_at !== undefined && !isMoment(occurred_at))
    throw invalidFieldError('occurred_at', 'invalid_date_time');
  return { occurredAt: occurred_at ?? null, location: location ?? null, remarks: remarks ?? null };
}

/** Returns whether the text is an existing date and time in the format `YYYY-MM-DD HH:MM:SS`. */
const isMoment = (text: string) =>
  isCalendarDate(text.slice(0, 10)) && /^(?:[01]\d|2[0-3])(?::[0-5]\d){2}$/.test(text.slice(11));

/** Compares with the database's clock, which also dates events without a given time. */
async function assertNotInFuture({ tx }: Ctx, { occurredAt }: EventDetails): Promise<void> {
  if (occurredAt === null) return;
  const [row] = await tx.query<{ is_future: boolean }>(queries.isInFuture(occurredAt));
  if (row?.is_future) throw invalidFieldError('occurred_at', 'in_the_future');
}

async function lockPackageStates(
  { db, tx, caller }: Ctx,
  fields: Map<string, string>,
): Promise<Map<string, PackageStateRow>> {
  const ids = [...fields.keys()];
  await tx.query(queries.lockPackages(db, caller, ids));
  const rows = await tx.query<PackageStateRow>(queries.selectPackageStates(db, caller, ids));
  const standings = new Map(rows.map((row) => [row.id, row]));
  const missing = listErrors(fields, (id) => (standings.has(id) ? undefined : packageNotFound(id)));
  if (missing.length > 0) throw new ApiError('package_not_found', { variant: 'several', errors: missing });
  return standings;
}

/** Returns the status changes, in the order of the package ids in the body. */
function listMoves(
  fields: Map<string, string>,
  standings: Map<string, PackageStateRow>,
  kind: PackageEventKind,
): Move[] {
  const moves: Move[] = [];
  const refused = listErrors(fields, (id) => {
    const standing = standings.get(id);
    if (!standing) return undefined;
    const { status: previous, free_status: freeStatus, has_manifest_left: hasManifestLeft } = standing;
    const status = statusAfter({ status: previous, unsuspendedStatus: freeStatus, hasManifestLeft }, kind);
    if (!status) return transitionProblem(standing);
    if (status !== previous) moves.push({ id, eventId: newId(), previous, status });
    return undefined;
  });
  if (refused.length > 0) throw new ApiError('package_invalid_transition', { errors: refused });
  return moves;
}

function transitionProblem({ id, status }: PackageStateRow): FieldProblem {
  const next = nextStatuses(status).join(', ');
  return next ? ['invalid_transition', { id, status, next }] : ['final_status', { id, status }];
}

/** Rejects an event that is earlier than the package's latest event, to the second. */
function assertInOrder(
  moves: Move[],
  standings: Map<string, PackageStateRow>,
  { occurredAt }: EventDetails,
): void {
  if (occurredAt === null) return;
  const errors = moves.flatMap(({ id }) => {
    const lastAt = standings.get(id)?.last_at;
    // Both are YYYY-MM-DD HH:MM:SS, which sorts chronologically.
    if (!lastAt || occurredAt >= lastAt) return [];
    return fieldError('occurred_at', 'before_last_event', { id, at: lastAt });
  });
  if (errors.length > 0) throw new ApiError('validation_failed', { variant: 'nothing_changed', errors });
}

async function appendAndMove(ctx: Ctx, moves: Move[], circumstances: EventDetails): Promise<RecordedEvent[]> {
  const { db, tx, caller, requestId } = ctx;
  const rows = await tx.query<queries.EventRow>(queries.appendEvents(db, caller, moves, circumstances));
  const moved = await tx.execute(queries.updateStatuses(db, caller, moves));
  if (moved !== moves.length || rows.length !== moves.length)
    throw new Error(`${moved} of ${moves.length} packages that were held have moved.`);
  const times = new Map(rows.map((row) => [row.package_id, row.occurred_at]));
  const events = moves.map((move) => ({ ...move, occurredAt: times.get(move.id) ?? '' }));
  await tx.execute(auditStatement(caller, requestId, events.map(toAuditFact(circumstances))));
  const { location, remarks } = circumstances;
  const changes = events.map(({ id, previous, occurredAt }) => ({
    packageId: id,
    previousStatus: previous,
    recorded: { occurred_at: occurredAt, location, remarks },
  }));
  const scope = { tenantId: tx.caller.tenantId, applicationFilters: db.applicationFilters };
  await recordPackageEvents(scope, tx, 'package.status_changed', changes);
  return events;
}

const toAuditFact =
  ({ location, remarks }: EventDetails) =>
  ({ id, previous, status, occurredAt }: RecordedEvent): AuditFact => ({
    action: 'package.status_changed',
    entity: 'package',
    entityId: id,
    before: { status: previous },
    after: { status, occurred_at: occurredAt, location },
    remarks: remarks ?? undefined,
  });
