import { audit, factOf, type AuditFact } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import {
  ApiError,
  fieldError,
  type FieldProblem,
  invalidFieldError,
} from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import type { Tx, UserTx } from '../../../platform/db/scope.js';
import { emitEventsOfPackages, selectEventPackages } from '../../webhooks/public.js';
import { assertAllExist, listErrors } from '../shared/batch.js';
import * as queries from './record-queries.js';
import type { EventDetails, Move, PackageStateRow } from './record-queries.js';
import { readEventDetails, readPackages, type RecordEventRequest } from './record-request.js';
import { nextStatuses, statusAfter, type PackageEventKind, type PackageStatus } from './transitions.js';

/** A move that was recorded, and the time that its event got. */
export type RecordedEvent = Move & { recordedFor: string };
export type Recorded = { events: RecordedEvent[]; unchanged: number };

/**
 * Records one event for all given packages, or for none if one is rejected. A package that already has the
 * status is not changed.
 * @throws ApiError validation_failed, package_not_found, package_invalid_transition, too_many_package_events
 */
export async function recordPackageEvent(ctx: UserContext, body: RecordEventRequest): Promise<Recorded> {
  const fields = readPackages(body);
  const details = readEventDetails(body);
  return ctx.write(async (tx) => {
    await assertNotInFuture(tx, details);
    const states = await lockPackageStates(tx, fields);
    const moves = listMoves(fields, states, body.status, details);
    assertInOrder(moves, states, details);
    assertRoom(fields, moves, states);
    if (moves.length === 0) return { events: [], unchanged: fields.size };
    return { events: await recordMoves(tx, moves), unchanged: fields.size - moves.length };
  });
}

/** Compares with the database's clock, which also dates events without a given time. */
async function assertNotInFuture(tx: Tx, { occurredAt }: EventDetails): Promise<void> {
  if (occurredAt === null) return;
  const [row] = await tx.query(queries.isInFuture(occurredAt));
  if (row?.isFuture) throw invalidFieldError('occurred_at', 'in_the_future');
}

async function lockPackageStates(
  tx: UserTx,
  fields: Map<string, string>,
): Promise<Map<string, PackageStateRow>> {
  const ids = [...fields.keys()];
  tx.later(queries.lockedPackages(tx, ids));
  const rows = await tx.query(queries.selectPackageStates(tx, ids));
  const states = new Map(rows.map((row) => [row.id, row]));
  assertAllExist(fields, states);
  return states;
}

/** Returns the status changes, in the order of the package ids in the body. */
function listMoves(
  fields: Map<string, string>,
  states: Map<string, PackageStateRow>,
  kind: PackageEventKind,
  details: EventDetails,
): Move[] {
  const moves: Move[] = [];
  const refused = listErrors(fields, (id) => {
    const state = states.get(id);
    if (!state) return undefined;
    const status = statusAfter(state, kind);
    if (!status) return transitionProblem(state);
    if (status !== state.status)
      moves.push({ id, eventId: newId(), previous: state.status, status, ...details });
    return undefined;
  });
  if (refused.length > 0) throw new ApiError('package_invalid_transition', { errors: refused });
  return moves;
}

function transitionProblem({ id, status }: PackageStateRow): FieldProblem {
  const next = nextStatuses(status).join(', ');
  return next ? ['invalid_transition', { id, status, next }] : ['final_status', { id, status }];
}

/** The statuses that end a history: after `delivered` only `returned` follows, and nothing after that. */
const ENDING: PackageStatus[] = ['delivered', 'returned'];

/** Rejects events of packages whose history is full. It is read whole, and grows with each hold and release. */
function assertRoom(fields: Map<string, string>, moves: Move[], states: Map<string, PackageStateRow>): void {
  const growing = new Set(moves.filter(({ status }) => !ENDING.includes(status)).map(({ id }) => id));
  const errors = listErrors(fields, (id) =>
    growing.has(id) && states.get(id)?.isFull
      ? ['too_many_package_events', { id, limit: queries.MAX_EVENTS }]
      : undefined,
  );
  if (errors.length > 0) throw new ApiError('too_many_package_events', { errors });
}

/** Rejects an event that is earlier than the package's latest event, to the second. */
function assertInOrder(
  moves: Move[],
  states: Map<string, PackageStateRow>,
  { occurredAt }: EventDetails,
): void {
  if (occurredAt === null) return;
  const errors = moves.flatMap(({ id }) => {
    const lastEventAt = states.get(id)?.lastEventAt;
    // Both are YYYY-MM-DD HH:MM:SS, which sorts chronologically.
    if (!lastEventAt || occurredAt >= lastEventAt) return [];
    return fieldError('occurred_at', 'before_last_event', { id, at: lastEventAt });
  });
  if (errors.length > 0) throw new ApiError('validation_failed', { variant: 'nothing_changed', errors });
}

/** Records status changes of packages that the transaction has locked: history, audit trail and courier's events. */
export async function recordMoves(tx: UserTx, moves: Move[]): Promise<RecordedEvent[]> {
  const [rows, packages] = await tx.query([
    queries.moveAndAppend(tx, moves),
    selectEventPackages(
      tx,
      moves.map(({ id }) => id),
    ),
  ]);
  if (rows.length !== moves.length)
    throw new Error(`${rows.length} of ${moves.length} locked packages changed their status.`);
  const times = new Map(rows.map((row) => [row.packageId, row.occurredAt]));
  const events = moves.map((move) => ({ ...move, recordedFor: times.get(move.id) ?? '' }));
  tx.later(audit(tx, ...events.map(toAuditFact)));
  const changes = events.map(({ id, previous, recordedFor, location, remarks }) => ({
    packageId: id,
    previousStatus: previous,
    recorded: { occurred_at: recordedFor, location, remarks },
  }));
  emitEventsOfPackages(tx, 'package.status_changed', changes, packages);
  return events;
}

const toAuditFact = ({ id, previous, status, recordedFor, location, remarks }: RecordedEvent): AuditFact =>
  factOf('package.status_changed', id, {
    before: { status: previous },
    after: { status, occurred_at: recordedFor, location },
    remarks: remarks ?? undefined,
  });
