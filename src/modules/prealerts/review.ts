import { audit, factOf, type AuditFact } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { UserTx } from '../../platform/db/scope.js';
import { claimPackage, lockLooked, notifyCourierOfClaim, type Claim } from '../packages/public.js';
import { emitPrealertEvents } from '../webhooks/public.js';
import { keysOfStored } from '../tracking-numbers/public.js';
import { findKeys } from './lock-prealert.js';
import { clearFlag, lockedForReview, type ReviewedRow } from './review-queries.js';
import { arrivalsOf, evidenceOf } from './status/arrivals.js';
import { deleteFlags } from './status/initial-status-queries.js';

export type Review = { status: 'pending' | 'received'; packageId: string | null; isAssigned: boolean };

/**
 * Clears a pre-alert's flag. Of concurrent reviews, only one succeeds. With `assign`, also assigns the
 * package of its number.
 * @throws ApiError prealert_not_found, prealert_not_flagged, package_not_assignable, validation_failed
 */
export async function reviewPrealert(
  ctx: UserContext,
  { prealert_id, reason, ...decision }: BodyOf<'reviewPrealert'>,
): Promise<Review> {
  return ctx.write(async (tx) => {
    const prealert = await lockFlaggedPrealert(tx, prealert_id);
    const claim = await claimPackage(tx, prealert, decision);
    const status = claim.packageId ? 'received' : 'pending';
    const evidence = decision.assign ? await findEvidence(tx, prealert, claim) : {};
    const cleared = await tx.count(clearFlag(ctx, prealert.id, status, claim.trackingKey));
    if (cleared !== 1) throw new Error(`${cleared} pre-alerts were cleared under one lock.`);
    tx.later(deleteFlags(ctx, prealert.courierId, prealert.keys));
    tx.later(audit(tx, reviewedFact(prealert, { status, claim, evidence, reason }), ...claim.facts));
    await notifyCourierOfClaim(tx, claim);
    emitPrealertEvents(tx, claim.packageId ? 'prealert.claimed' : 'prealert.reopened', [prealert]);
    return { status, packageId: claim.packageId, isAssigned: claim.change !== 'none' };
  });
}

/**
 * Selects and locks the pre-alert and its parcel. Without the parcel's lock, a concurrent intake could assign
 * the package to somebody else.
 */
const lockFlaggedPrealert = (tx: UserTx, id: string): Promise<ReviewedRow & { keys: string[] }> =>
  lockLooked(tx, {
    // Locked before the row, as intake does: two different orders would deadlock.
    look: async () => ({ keys: await findKeys(tx, id) }),
    identify: () => selectFlagged(tx, id),
  });

async function selectFlagged(tx: UserTx, id: string): Promise<ReviewedRow & { keys: string[] }> {
  const [row] = await tx.query(lockedForReview(tx, id));
  if (!row) throw new ApiError('prealert_not_found');
  if (row.status !== 'flagged') {
    throw new ApiError('prealert_not_flagged', { args: { status: row.status } });
  }
  return { ...row, keys: keysOfStored(row) };
}

/** Reads how many of the courier's numbers arrive, before this one does. */
async function findEvidence(tx: UserTx, prealert: ReviewedRow, { receivedAt }: Claim): Promise<object> {
  const [arrivals] = await tx.query(arrivalsOf(tx, [prealert.courierId]));
  return arrivals && receivedAt ? evidenceOf(prealert, { receivedAt }, arrivals) : {};
}

type Reviewed = { status: string; claim: Claim; evidence: object; reason: string };

function reviewedFact(
  { id, status: previous }: ReviewedRow,
  { status, claim: { packageId }, evidence, reason }: Reviewed,
): AuditFact {
  const after = { status, ...(packageId ? { package_id: packageId } : {}), ...evidence };
  return factOf('prealert.reviewed', id, { before: { status: previous }, after, remarks: reason });
}
