import { auditStatement, type AuditFact } from '../../platform/audit/audit.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { lockParcel } from '../../platform/db/locks.js';
import { transaction, type Db, type Tx } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';
import { notifyCourierOfClaim, claimPackage, type Claim } from '../packages/public.js';
import * as queries from './review-queries.js';
import type { ReviewedRow } from './review-queries.js';

type Ctx = { db: Db; tx: Tx; caller: UserCaller; requestId: string };

export type Review = { status: 'pending' | 'received'; packageId: string | null; isAssigned: boolean };

/**
 * Clears a pre-alert's flag. Of concurrent reviews, only one succeeds. With `assign`, also assigns the
 * package of its number.
 * @throws ApiError prealert_not_found, prealert_not_flagged, package_not_assignable
 */
export async function reviewPrealert(
  db: Db,
  caller: UserCaller,
  requestId: string,
  { prealert_id, reason, assign }: BodyOf<'reviewPrealert'>,
): Promise<Review> {
  return transaction(db, caller, async (tx) => {
    const ctx = { db, tx, caller, requestId };
    const prealert = await lockFlaggedPrealert(ctx, prealert_id);
    const claim = await claimPackage(ctx, toReviewedPrealert(prealert), assign);
    const status = claim.packageId ? 'received' : 'pending';
    const cleared = await tx.execute(queries.clearFlag(db, caller, prealert.id, status));
    if (cleared !== 1) throw new Error(`${cleared} pre-alerts were cleared under one lock.`);
    await tx.execute(queries.deleteStoredFlag(db, caller, prealert.courier_id, prealert.tracking_key));
    const facts = [factOf(prealert, status, claim, reason), ...claim.facts];
    await tx.execute(auditStatement(caller, requestId, facts));
    await notifyCourierOfClaim(ctx, claim);
    return { status, packageId: claim.packageId, isAssigned: claim.change !== 'none' };
  });
}

/**
 * Selects and locks the pre-alert and its parcel. Without the parcel's lock, a concurrent intake could assign
 * the package to somebody else.
 */
async function lockFlaggedPrealert({ db, tx, caller }: Ctx, id: string): Promise<ReviewedRow> {
  const [found] = await tx.query<{ tracking_key: string }>(queries.findTrackingKey(db, caller, id));
  if (!found) throw new ApiError('prealert_not_found');
  // Locked before the row, as intake does: two different orders would deadlock.
  await tx.execute(lockParcel(caller.tenantId, found.tracking_key));
  const [row] = await tx.query<ReviewedRow>(queries.lockPrealert(db, caller, id));
  if (!row) throw new ApiError('prealert_not_found');
  if (row.status !== 'flagged') {
    throw new ApiError('prealert_not_flagged', { args: { status: row.status } });
  }
  // A concurrent update has changed the number. If this lock deadlocks, PostgreSQL cancels one transaction
  // and it is retried.
  if (row.tracking_key !== found.tracking_key)
    await tx.execute(lockParcel(caller.tenantId, row.tracking_key));
  return row;
}

const toReviewedPrealert = ({
  id,
  courier_id,
  user_code,
  tracking_key,
  vendor,
  description,
}: ReviewedRow) => ({
  id,
  courierId: courier_id,
  userCode: user_code,
  trackingKey: tracking_key,
  vendor,
  description,
});

function factOf({ id, status: was }: ReviewedRow, status: string, claim: Claim, reason: string): AuditFact {
  const after = claim.packageId ? { status, package_id: claim.packageId } : { status };
  return {
    action: 'prealert.reviewed',
    entity: 'prealert',
    entityId: id,
    before: { status: was },
    after,
    remarks: reason,
  };
}
