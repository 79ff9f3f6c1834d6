import { auditStatement } from '../../platform/audit/audit.js';
import type { BulkTx, UserContext } from '../../platform/context/request-context.js';
import type { KeyCaller, UserCaller } from '../../platform/identity/callers.js';
import type { BodyOf, QueryOf } from '../../platform/contract/types.js';
import { lockParcel } from '../../platform/db/locks.js';
import { preparedPipeline, transaction, snapshot, type Db, type Tx } from '../../platform/db/transaction.js';
import { ApiError, fieldError, invalidFieldError } from '../../platform/errors/errors.js';
import { newId } from '../../platform/values/ids.js';
import { trackingKey } from '../tracking-numbers/public.js';
import { deleteFlagForStaff, lockPrealert, storeFlagForCourier } from './stored-flags.js';
import * as queries from './queries.js';
import type { PrealertRow, PrealertStats } from './queries.js';

/**
 * Creates a pre-alert with a courier's API key, in one round trip to the database. Returns the new id.
 * @throws ApiError unknown_user_code, duplicate_tracking_number, key_invalid
 */
export async function submitPrealert(
  db: Db,
  caller: KeyCaller,
  requestId: string,
  body: BodyOf<'submitPrealert'>,
): Promise<string> {
  const id = newId();
  const announcement = {
    id,
    userCode: body.UserCode,
    ...readTracking(body.TrackingNumber, 'TrackingNumber'),
    vendor: body.Vendor ?? null,
    description: body.Description ?? null,
    reference: body.Reference ?? null,
  };
  const [, created] = await preparedPipeline(db, caller, [
    lockParcel(caller.tenantId, announcement.trackingKey),
    queries.insertPrealertWithKey(db, caller, requestId, announcement),
  ]);
  // The same error for an unknown user code and one of another courier: neither is a customer of this
  // courier.
  if (created?.length !== 1) throw unknownUserCode('UserCode');
  return id;
}

/** Returns one page of pre-alerts and the statistics of all matching ones, in one round trip. */
export async function listPrealerts(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'listPrealerts'>,
): Promise<{ rows: PrealertRow[]; stats: PrealertStats }> {
  const [rows, stats] = await snapshot(db, caller, [
    queries.pageOfPrealerts(db, caller, query),
    queries.statsOfPrealerts(db, caller, query),
  ]);
  // The two statements select exactly these columns.
  return { rows: rows as PrealertRow[], stats: stats?.[0] as PrealertStats };
}

/**
 * Creates a pre-alert for a courier's customer. Returns the new id.
 * @throws ApiError courier_not_found, unknown_user_code, 409
 */
export async function createPrealert(
  db: Db,
  caller: UserCaller,
  requestId: string,
  body: BodyOf<'createPrealert'>,
): Promise<string> {
  const courierId = caller.courierId ?? body.courier_id;
  if (!courierId) throw invalidFieldError('courier_id', 'required_for_staff');
  const announcement = {
    id: newId(),
    userCode: body.user_code,
    ...readTracking(body.tracking_number, 'tracking_number'),
    vendor: body.vendor,
    description: body.description ?? null,
    reference: null,
  };
  return transaction(db, caller, async (tx) => {
    await tx.execute(lockParcel(caller.tenantId, announcement.trackingKey));
    const [courier] = await tx.query<{ has_customer: boolean }>(
      queries.courierWithCustomer(db, caller, courierId, body.user_code),
    );
    if (!courier) throw new ApiError('courier_not_found');
    if (!courier.has_customer) throw unknownUserCode('user_code');
    const [created] = await tx.query<Record<string, unknown>>(
      queries.insertPrealert(caller, courierId, announcement),
    );
    await audit(tx, caller, requestId, { action: 'prealert.created', id: announcement.id, after: created });
    return announcement.id;
  });
}

/**
 * Replaces the editable fields. Fields that the body omits are cleared.
 * @throws ApiError 404, 400, 409
 */
export async function replacePrealert(
  db: Db,
  caller: UserCaller,
  requestId: string,
  body: BodyOf<'replacePrealert'>,
): Promise<PrealertRow> {
  const tracking = readTracking(body.tracking_number, 'tracking_number');
  return transaction(db, caller, async (tx) => {
    const ctx = { db, tx, caller };
    const locked = await lockPrealert(ctx, body.prealert_id, tracking.trackingKey);
    const before = locked.columns;
    const [courier] = await tx.query<{ has_customer: boolean }>(
      queries.courierWithCustomer(db, caller, before.courier_id, body.user_code),
    );
    if (!courier?.has_customer) throw unknownUserCode('user_code');
    if (locked.trackingKey !== tracking.trackingKey) await storeFlagForCourier(ctx, locked);
    const fields = {
      userCode: body.user_code,
      ...tracking,
      vendor: body.vendor,
      description: body.description ?? null,
    };
    const [after] = await tx.query<Record<string, unknown>>(
      queries.updatePrealert(db, caller, body.prealert_id, fields),
    );
    await audit(tx, caller, requestId, { action: 'prealert.replaced', id: body.prealert_id, before, after });
    const [row] = await tx.query<PrealertRow>(queries.onePrealert(db, caller, body.prealert_id));
    if (!row) throw new Error('The pre-alert was not found in the transaction that wrote it.');
    return row;
  });
}

/**
 * Deletes a pre-alert permanently. The audit trail records its content, and a courier's flag stays stored for
 * the number.
 * @throws ApiError 404
 */
export async function deletePrealert(
  db: Db,
  caller: UserCaller,
  requestId: string,
  id: string,
): Promise<void> {
  await transaction(db, caller, async (tx) => {
    const ctx = { db, tx, caller };
    const locked = await lockPrealert(ctx, id);
    const before = locked.columns;
    const removed = await tx.execute(queries.removePrealert(db, caller, id));
    if (removed !== 1) throw new Error(`${removed} pre-alerts were deleted under one lock.`);
    await storeFlagForCourier(ctx, locked);
    await deleteFlagForStaff(ctx, locked);
    await audit(tx, caller, requestId, { action: 'prealert.deleted', id, before });
  });
}

/**
 * Updates the pre-alerts of a customer whose user code has changed, in the same transaction. A pre-alert
 * refers to its customer only by the code, so it would otherwise refer to no customer, or to the next one
 * with that code.
 */
export async function renameOnPrealerts(
  ctx: UserContext,
  tx: BulkTx,
  { courierId, from, to }: { courierId: string; from: string; to: string },
): Promise<void> {
  const renamed = await tx.query(queries.renameCustomer(ctx, courierId, from, to));
  if (renamed.length === 0) return;
  const states = { before: { user_code: from }, after: { user_code: to } };
  const facts = renamed.map(({ id }) => ({
    action: 'prealert.user_code_changed',
    entity: 'prealert' as const,
    entityId: id,
    ...states,
  }));
  await tx.audit(...facts);
}

type Change = {
  action: string;
  id: string;
  before?: Record<string, unknown> | undefined;
  after?: Record<string, unknown> | undefined;
};

async function audit(tx: Tx, caller: UserCaller, requestId: string, change: Change): Promise<void> {
  const { action, id, before, after } = change;
  const states = { ...(before ? { before } : {}), ...(after ? { after } : {}) };
  await tx.execute(
    auditStatement(caller, requestId, [{ action, entity: 'prealert', entityId: id, ...states }]),
  );
}

/** Returns the trimmed tracking number and its key. The schema already requires a visible character. */
function readTracking(text: string, field: string): { trackingNumber: string; trackingKey: string } {
  const trackingNumber = text.trim();
  if (trackingNumber === '') throw invalidFieldError(field, 'blank_pattern');
  return { trackingNumber, trackingKey: trackingKey(trackingNumber) };
}

function unknownUserCode(field: string): ApiError {
  return new ApiError('unknown_user_code', { errors: [fieldError(field, 'unknown_user_code')] });
}
