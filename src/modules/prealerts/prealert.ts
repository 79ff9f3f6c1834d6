import type { NewPrealert as NewRecord, PrealertFields } from './batches/new-prealert.js';
import * as queries from './queries.js';
import { targetCourierId } from '../couriers/public.js';
import { unknownUserCode } from '../packages/public.js';
import { auditLater } from '../../platform/audit/audit.js';
import { sharedWrite } from '../../platform/context/shared-write.js';
import type { RequestContext, UserContext } from '../../platform/context/request-context.js';
import type { BodyOf, DataOf, JsonBodyOf } from '../../platform/contract/types.js';
import { lockAnnouncement, lockTogether } from '../../platform/db/locks.js';
import type { Scope, UserTx } from '../../platform/db/scope.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { SubmittingCaller } from '../../platform/identity/callers.js';
import { newId } from '../../platform/values/ids.js';
import { readNumber } from '../tracking-numbers/public.js';
import {
  duplicateError,
  namingExisting,
  ownerById,
  ownerOfKey,
  ownerOfPrealert,
} from './duplicates/existing.js';
import { onePrealert, type PrealertRow } from './list-queries.js';
import { warnOfIgnored, warningsOf } from './warnings.js';
import { lockPrealert, type LockedPrealert } from './lock-prealert.js';
import { deleteFlags, insertFlags } from './status/initial-status-queries.js';

type NewPrealert = DataOf<'createPrealert'>;

export type PrealertSubmission = JsonBodyOf<'submitPrealert'>;

/** Requests of one API key that wait at the same time write their pre-alerts together. */
const submissions = sharedWrite(
  (key: Scope<SubmittingCaller>, items: readonly queries.Submission[], waits) => [
    lockTogether(key.tenantId, items, waits),
    queries.insertPrealertsWithKey(key, items),
  ],
);

/**
 * Creates a pre-alert with a courier's API key, in one round trip to the database. Requests with the same key that wait at the
 * same time share it (decision 0066). Returns the new id, and what may be wrong.
 *
 * @throws ApiError unknown_user_code, duplicate_tracking_number, key_invalid
 */
export async function submitPrealert(
  ctx: RequestContext<SubmittingCaller>,
  body: PrealertSubmission,
): Promise<NewPrealert> {
  const submission = { ...toPrealert(newId(), body), requestId: ctx.requestId };
  const outcome = await namingExisting(ctx, ownerOfKey(ctx), submission, () =>
    ctx.writeTogether(submissions, submission),
  );
  // The same error for an unknown user code and one of another courier: neither is a customer of this
  // courier.
  if (!outcome) throw unknownUserCode('UserCode');
  if (!outcome.isCreated) throw await duplicateError(ctx, ownerOfKey(ctx), submission);
  return viewNew(submission);
}

/** @throws ApiError validation_failed */
export const toPrealert = (id: string, body: PrealertSubmission): NewRecord => ({
  id,
  userCode: body.UserCode,
  sentNumber: body.TrackingNumber,
  ...readTracking(body.TrackingNumber, 'TrackingNumber'),
  vendor: body.Vendor ?? null,
  description: body.Description ?? null,
  reference: body.Reference ?? null,
  ignored: warnOfIgnored('submitPrealert', body),
});

/**
 * Creates a pre-alert for a courier's customer. Returns the new id, and what may be wrong.
 * @throws ApiError courier_not_found, unknown_user_code, duplicate_tracking_number, validation_failed
 */
export async function createPrealert(ctx: UserContext, body: BodyOf<'createPrealert'>): Promise<NewPrealert> {
  const courierId = targetCourierId(ctx.caller, body.courier_id);
  const prealert = {
    id: newId(),
    userCode: body.user_code,
    sentNumber: body.tracking_number,
    ...readTracking(body.tracking_number, 'tracking_number'),
    vendor: body.vendor,
    description: body.description ?? null,
    reference: null,
    ignored: warnOfIgnored('createPrealert', body),
  };
  await namingExisting(ctx, ownerById(ctx, courierId), prealert, () => storeNew(ctx, courierId, prealert));
  return viewNew(prealert);
}

const viewNew = (stored: NewRecord): NewPrealert => ({
  prealert_id: stored.id,
  ...warningsOf(stored),
});

const storeNew = (ctx: UserContext, courierId: string, prealert: NewRecord): Promise<void> =>
  ctx.write(async (tx) => {
    tx.later(lockAnnouncement(ctx.tenantId, prealert));
    const [courier] = await tx.query(queries.courierWithCustomer(ctx, courierId, prealert.userCode));
    if (!courier) throw new ApiError('courier_not_found');
    if (!courier.hasCustomer) throw unknownUserCode('user_code');
    const [after] = await tx.query(queries.insertPrealert(ctx, courierId, prealert));
    auditLater(tx, 'prealert.created', prealert.id, { after });
  });

/**
 * Replaces the editable fields. Fields that the body omits are cleared.
 * @throws ApiError prealert_not_found, unknown_user_code, duplicate_tracking_number, validation_failed
 */
export async function replacePrealert(
  ctx: UserContext,
  body: BodyOf<'replacePrealert'>,
): Promise<PrealertRow> {
  const { prealert_id: id, user_code: userCode, vendor } = body;
  const tracking = readTracking(body.tracking_number, 'tracking_number');
  const fields = { userCode, ...tracking, vendor, description: body.description ?? null };
  return namingExisting(ctx, ownerOfPrealert(ctx, id), fields, () => storeReplacement(ctx, id, fields));
}

const storeReplacement = (ctx: UserContext, id: string, fields: PrealertFields): Promise<PrealertRow> =>
  ctx.write(async (tx) => {
    const locked = await lockPrealert(tx, id, fields);
    const before = locked.columns;
    const [courier] = await tx.query(queries.courierWithCustomer(ctx, before.courier_id, fields.userCode));
    if (!courier?.hasCustomer) throw unknownUserCode('user_code');
    // Another key is another number, also if both can be that of one parcel: a short FedEx number is the end of several.
    const isMoved = fields.trackingKey !== locked.announcedKey;
    if (isMoved) await storeFlagForCourier(tx, locked);
    const [[after], [row]] = await tx.query([
      queries.updatePrealert(ctx, id, fields, isMoved),
      onePrealert(ctx, id),
    ]);
    auditLater(tx, 'prealert.replaced', id, { before, after });
    if (!row) throw new Error('The pre-alert was not found in the transaction that wrote it.');
    return row;
  });

/**
 * Deletes a pre-alert permanently. The audit trail records its content, and a courier's flag stays stored for
 * the number.
 * @throws ApiError prealert_not_found
 */
export async function deletePrealert(ctx: UserContext, id: string): Promise<void> {
  await ctx.write(async (tx) => {
    const locked = await lockPrealert(tx, id);
    const count = await tx.count(queries.removePrealert(ctx, id));
    if (count !== 1) throw new Error(`${count} pre-alerts were deleted under one lock.`);
    await storeFlagForCourier(tx, locked);
    await deleteFlagForStaff(tx, locked);
    auditLater(tx, 'prealert.deleted', id, { before: locked.columns });
  });
}

type Tracking = Pick<PrealertFields, 'trackingNumber' | 'trackingKey' | 'keys'>;

/** Returns the tracking number as it is stored, and its keys. @throws ApiError validation_failed */
function readTracking(sent: string, field: string): Tracking {
  const { text: trackingNumber, key: trackingKey, keys } = readNumber(sent, field);
  return { trackingNumber, trackingKey, keys };
}

/**
 * Stores the flag of a pre-alert that its courier deletes or renumbers, for the courier's next pre-alert of the
 * number or of the package. Otherwise the courier could clear the flag by announcing it again (decision 0026).
 */
async function storeFlagForCourier(
  tx: UserTx,
  { columns, keys, announcedKey }: LockedPrealert,
): Promise<void> {
  if (tx.caller.courierId === null || columns.status !== 'flagged') return;
  tx.later(insertFlags(tx, columns.courier_id, [...new Set([keys[0], announcedKey])]));
}

/** Deletes the stored flags of a number when staff delete a flagged pre-alert of it. */
async function deleteFlagForStaff(tx: UserTx, { columns, keys }: LockedPrealert): Promise<void> {
  if (tx.caller.courierId !== null || columns.status !== 'flagged') return;
  tx.later(deleteFlags(tx, columns.courier_id, keys));
}
