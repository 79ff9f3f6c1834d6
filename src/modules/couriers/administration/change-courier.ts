import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { Settle } from '../../auth/public.js';
import type { Deps } from '../../dependencies.js';
import { changeFields } from '../settings/update-settings.js';
import { assertAcceptable, pickContact, type CourierUpdate } from '../shared/profile.js';
import { endSandbox } from '../shared/end-sandbox.js';
import { switchActivity, type RecordRow, countOfCouriers, oneCourier, pageOfCouriers } from './queries.js';
import { readPage, type Page } from '../../../platform/context/read-page.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { UserTx } from '../../../platform/db/scope.js';

export const listCouriers = (ctx: UserContext, query: QueryOf<'listCouriers'>): Promise<Page<RecordRow>> =>
  readPage(ctx, pageOfCouriers(ctx, query), countOfCouriers(ctx, query));

/**
 * Returns the courier as courier administration shows it, inside the transaction that changes it.
 * @throws ApiError courier_not_found
 */
export async function readRecord(tx: UserTx, courierId: string): Promise<RecordRow> {
  const [row] = await tx.query(oneCourier(tx, courierId));
  if (!row) throw new ApiError('courier_not_found');
  return row;
}

type Changed = { row: RecordRow; isChanged: boolean };

/**
 * Changes the given fields that differ.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function updateCourier(
  ctx: UserContext,
  { secrets, outbound }: Pick<Deps, 'secrets' | 'outbound'>,
  body: Omit<CourierUpdate, 'current_password'>,
  settle?: Settle,
): Promise<Changed> {
  const courierId = body.courier_id;
  const sent = pickContact(body);
  assertAcceptable(sent, outbound);
  return ctx.write(async (tx) => {
    const isChanged = await changeFields(tx, secrets, { courierId, sent }, settle);
    return { row: await readRecord(tx, courierId), isChanged };
  });
}

/**
 * Activates or deactivates a courier. Every replica applies the change to requests that start after the
 * commit, because each transaction checks it in the same round trip.
 * @throws ApiError courier_not_found
 */
export async function setActivity(
  ctx: UserContext,
  courierId: string,
  isActive: boolean,
  settle?: Settle,
): Promise<Changed> {
  return ctx.write(async (tx) => {
    await settle?.(tx);
    const isChanged = (await tx.count(switchActivity(ctx, courierId, isActive))) === 1;
    if (isChanged) {
      const action = isActive ? 'courier.activated' : 'courier.deactivated';
      auditLater(tx, action, courierId, { before: { is_active: !isActive }, after: { is_active: isActive } });
      // Its credentials are of a tenant of their own, where the courier stays active.
      if (!isActive) await endSandbox(tx, courierId);
    }
    return { row: await readRecord(tx, courierId), isChanged };
  });
}
