import { audit } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { Deps } from '../../dependencies.js';
import { changeFields } from '../settings/update-settings.js';
import { assertAcceptable } from '../shared/profile.js';
import { switchActivity, type RecordRow } from './queries.js';
import { readRecord } from './records.js';
import { pickProfile, type CourierUpdate } from './sent-profile.js';

type Changed = { row: RecordRow; isChanged: boolean };

/**
 * Changes the given fields that differ.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function updateCourier(
  ctx: UserContext,
  { secrets, outbound }: Pick<Deps, 'secrets' | 'outbound'>,
  body: CourierUpdate,
): Promise<Changed> {
  const courierId = body.courier_id;
  const sent = pickProfile(body);
  assertAcceptable(sent, outbound);
  return ctx.write(async (tx) => {
    const isChanged = await changeFields(tx, secrets, { courierId, sent });
    return { row: await readRecord(tx, courierId), isChanged };
  });
}

/**
 * Activates or deactivates a courier. Every replica applies the change to requests that start after the
 * commit, because each transaction checks it in the same round trip.
 * @throws ApiError courier_not_found
 */
export async function setActivity(ctx: UserContext, courierId: string, isActive: boolean): Promise<Changed> {
  return ctx.write(async (tx) => {
    const isChanged = (await tx.count(switchActivity(ctx, courierId, isActive))) === 1;
    if (isChanged) {
      const action = isActive ? 'courier.activated' : 'courier.deactivated';
      const states = { before: { is_active: !isActive }, after: { is_active: isActive } };
      tx.later(audit(tx, { action, entity: 'courier', entityId: courierId, ...states }));
    }
    return { row: await readRecord(tx, courierId), isChanged };
  });
}
