import { audit } from '../../platform/audit/audit.js';
import type { UserContext } from '../../platform/context/request-context.js';
import { lock } from '../../platform/db/columns.js';
import { setAirFreightRate } from './queries.js';

export type AirFreight = { courierId: string; rateUsd: string; isChanged: boolean };

/**
 * Sets the price per lb of a courier's air freight.
 * @throws ApiError courier_not_found
 */
export async function updateAirFreight(ctx: UserContext, id: string, rateUsd: number): Promise<AirFreight> {
  // The contract has limited the decimals, so nothing is rounded here.
  const requested = rateUsd.toFixed(2);
  return ctx.write(async (tx) => {
    const courier = await lock(tx, 'Courier', id, ['id', 'airFreightRate'], 'no key update');
    const { id: courierId, airFreightRate: stored } = courier;
    if (stored === requested) return { courierId, rateUsd: requested, isChanged: false };
    await tx.count(setAirFreightRate(ctx, courierId, requested));
    tx.later(
      audit(tx, {
        action: 'courier.air_freight_updated',
        entity: 'courier',
        entityId: courierId,
        before: { air_freight_rate: stored },
        after: { air_freight_rate: requested },
      }),
    );
    return { courierId, rateUsd: requested, isChanged: true };
  });
}
