import { BOUND_KINDS } from '../../../generated/bounds.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { lock } from '../../platform/db/columns.js';
import { lockRates } from '../../platform/db/locks.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { UserTx } from '../../platform/db/scope.js';
import { selectCouriers, selectTiers, type CourierRow, type TierRow, setAirFreightRate } from './queries.js';
import { findTable, replaceTable, type SavedTable } from './stored-table.js';
import { readTable } from './tier.js';
import { auditLater } from '../../platform/audit/audit.js';

type Action<Name> = Omit<Extract<BodyOf<'manageCourierRates'>, { action: Name }>, 'action'>;

export type RateTables = { couriers: CourierRow[]; tiers: TierRow[] };

/**
 * Returns the default tiers, and those of one courier or of all couriers.
 * @throws ApiError courier_not_found
 */
export async function readRates(ctx: UserContext, courierId: string | undefined): Promise<RateTables> {
  const [couriers, tiers] = await ctx.read([selectCouriers(ctx, courierId), selectTiers(ctx, courierId)]);
  if (courierId !== undefined && !couriers[0]) throw new ApiError('courier_not_found');
  return { couriers, tiers };
}

/**
 * Replaces a table by the given tiers. Concurrent requests run one after the other, so that the result is one
 * of the given tables.
 * @throws ApiError validation_failed, courier_not_found, rate_not_found
 */
export async function saveRates(ctx: UserContext, requested: Action<'save_rates'>): Promise<SavedTable> {
  const tiers = readTable(requested.rates);
  return withRatesLocked(ctx, tiers.length, async (tx) => {
    const courierId = requested.courier_id ? await lockCourier(tx, requested.courier_id) : null;
    return replaceTable(tx, { action: 'rates.saved', courierId }, tiers);
  });
}

/**
 * Replaces a courier's tiers by a copy of the default tiers.
 * @throws ApiError courier_not_found, default_rates_missing
 */
export async function copyDefaultRates(
  ctx: UserContext,
  { courier_id }: Action<'copy_default'>,
): Promise<SavedTable> {
  return withRatesLocked(ctx, 0, async (tx) => {
    const courierId = await lockCourier(tx, courier_id);
    const defaults = await findTable(tx, null);
    if (defaults.length === 0) throw new ApiError('default_rates_missing');
    const copies = defaults.map((tier) => ({ ...tier, id: undefined }));
    return replaceTable(tx, { action: 'rates.copied', courierId }, copies);
  });
}

/**
 * Deletes one tier of any table.
 * @throws ApiError rate_not_found
 */
export async function deleteRate(
  ctx: UserContext,
  { rate_id: id }: Action<'delete_rate'>,
): Promise<SavedTable> {
  return withRatesLocked(ctx, 0, async (tx) => {
    const tier = await tx.models.rateTier.findFirst({ where: { id }, select: { courierId: true } });
    if (!tier) throw new ApiError('rate_not_found');
    const { courierId } = tier;
    const rest = (await findTable(tx, courierId)).filter((stored) => stored.id !== id);
    return replaceTable(tx, { action: 'rate.deleted', courierId }, rest);
  });
}

/** @param named the number of tiers in the request, with which it was counted */
async function withRatesLocked(
  ctx: UserContext,
  named: number,
  work: (tx: UserTx) => Promise<SavedTable>,
): Promise<SavedTable> {
  const saved = await ctx.write(async (tx) => {
    await tx.query(lockRates(ctx.tenantId));
    return work(tx);
  });
  // The audit entry has both tables.
  const written = saved.isChanged ? saved.replaced + saved.tiers.length : 0;
  ctx.noteWrites({ furtherBytes: Math.max(0, written - named) * BOUND_KINDS.rates.item_bytes });
  return saved;
}

/** Concurrent changes of one courier's rates run one after the other. */
async function lockCourier(tx: UserTx, courierId: string): Promise<string> {
  const { id } = await lock(tx, 'Courier', courierId, ['id'], 'no key update');
  return id;
}

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
    auditLater(tx, 'courier.air_freight_updated', courierId, {
      before: { air_freight_rate: stored },
      after: { air_freight_rate: requested },
    });
    return { courierId, rateUsd: requested, isChanged: true };
  });
}
