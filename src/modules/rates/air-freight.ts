import { auditStatement } from '../../platform/audit/audit.js';
import { transaction } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { Change } from './context.js';
import { lockCourier, setAirFreightRate } from './queries.js';

export type AirFreight = { courierId: string; rateUsd: string; isChanged: boolean };

/**
 * Sets the price per lb of a courier's air freight.
 * @throws ApiError courier_not_found
 */
export async function updateAirFreight(change: Change, id: string, rateUsd: number): Promise<AirFreight> {
  const { db, caller, requestId } = change;
  // The contract has limited the decimals, so nothing is rounded here.
  const wanted = rateUsd.toFixed(2);
  return transaction(db, caller, async (tx) => {
    const ctx = { ...change, tx };
    const courier = await lockCourier(ctx, id);
    if (!courier) throw new ApiError('courier_not_found');
    const { id: courierId, air_freight_rate: stored } = courier;
    if (stored === wanted) return { courierId, rateUsd: wanted, isChanged: false };
    await setAirFreightRate(ctx, courierId, wanted);
    const fact = {
      action: 'courier.air_freight_updated',
      entity: 'courier' as const,
      entityId: courierId,
      before: { air_freight_rate: stored },
      after: { air_freight_rate: wanted },
    };
    await tx.execute(auditStatement(caller, requestId, [fact]));
    return { courierId, rateUsd: wanted, isChanged: true };
  });
}
