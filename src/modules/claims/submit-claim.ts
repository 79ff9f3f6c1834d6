import { audit, auditLater, factOf } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf, DataOf } from '../../platform/contract/types.js';
import { ApiError } from '../../platform/errors/errors.js';
import { quotaOf, takeQuota } from '../../platform/limits/stored/quotas.js';
import { newId } from '../../platform/values/ids.js';
import { targetCourierId } from '../couriers/public.js';
import { unknownUserCode } from '../packages/public.js';
import { readNumber } from '../tracking-numbers/public.js';
import type { ClaimLimits } from './claim-limit.js';
import { courierOfClaim, insertClaim } from './queries.js';

const [ATTEMPTS, CHANGES] = [quotaOf('claim_attempts'), quotaOf('claim_changes')];

/**
 * Stores a courier's claim of the parcel with a number. It neither reads packages and pre-alerts nor waits for the lock of a parcel, so
 * that its response, its time and its writes cannot depend on whether the parcel exists, or whose it is (decision 0120). A further claim
 * of a number replaces the customer of the courier's open claim, and counts as a change, not as an attempt. Locks, in this order: the
 * claim, the courier's quota.
 *
 * @param from the client's address, and the limits of its user and its network
 * @throws ApiError validation_failed, courier_not_found, unknown_user_code, too_many_attempts, quota_exceeded
 */
export async function submitClaim(
  ctx: UserContext,
  { courier_id, tracking_number: sent, user_code: userCode }: BodyOf<'claimParcel'>,
  from: { address: string; limits: ClaimLimits },
): Promise<DataOf<'claimParcel'>> {
  const courierId = targetCourierId(ctx.caller, courier_id);
  const { text: trackingNumber, key: trackingKey } = readNumber(sent, 'tracking_number');
  const claimant = { tenantId: ctx.tenantId, userId: ctx.caller.userId, address: from.address };
  await from.limits.countAttempt(claimant);
  const attempt = { user_code: userCode, tracking_number: trackingNumber };
  try {
    const { id, isNew } = await ctx.write(async (tx) => {
      const claim = { id: newId(), courierId, userCode, trackingNumber, trackingKey };
      const [[courier], [stored]] = await tx.query([courierOfClaim(tx, courierId), insertClaim(tx, claim)]);
      if (!courier) throw new ApiError('courier_not_found');
      if (!stored) throw unknownUserCode('user_code');
      auditLater(tx, 'parcel_claim.submitted', stored.id, { after: attempt });
      await takeQuota(tx, stored.isNew ? ATTEMPTS : CHANGES, courierId, 1);
      return stored;
    });
    if (isNew) await from.limits.countNewNumber(claimant);
    return { claim_id: id, status: 'open' };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'quota_exceeded') throw error;
    const fact = factOf('courier.claim_refused', courierId, { after: attempt });
    // Of its own, because the refusal has rolled the claim back. The limit of the user bounds these entries.
    await ctx.write([audit(ctx, fact)], { keptIfRefused: true });
    throw error;
  }
}
