import type { UserContext } from '../../platform/context/request-context.js';
import type { BodyOf, DataOf } from '../../platform/contract/types.js';
import { ApiError } from '../../platform/errors/errors.js';
import { periodOfMonth } from '../../platform/values/time.js';
import { courierExists } from '../couriers/public.js';
import { readTable } from '../rates/public.js';
import { priceByBoth, type PricedGap, type PricedRow, type PricedTier } from './preview-rates-queries.js';

type RatePreview = DataOf<'previewRates'>;

/**
 * Returns what the packages of a month cost by the tiers that apply now and by proposed ones. Amounts are in USD. Stores nothing.
 * @throws ApiError validation_failed, courier_not_found
 */
export async function previewRates(
  ctx: UserContext,
  { courier_id: courierId = null, month, rates }: BodyOf<'previewRates'>,
): Promise<RatePreview> {
  const proposal = { courierId, tiers: readTable(rates), month: periodOfMonth(month) };
  const [[courier], [row]] = await ctx.read([courierExists(ctx, courierId), priceByBoth(ctx, proposal)], {
    from: 'replica',
  });
  if (courierId !== null && !courier) throw new ApiError('courier_not_found');
  // A statement with an aggregate and no group returns one row.
  if (!row) throw new Error('The preview of rates has no sums.');
  return { courier_id: courierId, month, ...viewPriced(row) };
}

const viewPriced = (row: PricedRow): Omit<RatePreview, 'courier_id' | 'month'> => ({
  packages: row.packages,
  weight: Number(row.weightLb),
  current_amount: Number(row.currentUsd),
  proposed_amount: Number(row.proposedUsd),
  difference: Number(row.differenceUsd),
  proposed: row.proposed.map(viewTier),
  current: row.current.map(viewTier),
  gaps: row.gaps.map(viewGap),
});

const viewTier = (tier: PricedTier): RatePreview['proposed'][number] => ({
  startweight: Number(tier.startLb),
  endweight: Number(tier.endLb),
  fee: Number(tier.feeUsd),
  packages: tier.packages,
  weight: Number(tier.weightLb),
  current_amount: Number(tier.currentUsd),
  proposed_amount: Number(tier.proposedUsd),
});

const viewGap = (gap: PricedGap): RatePreview['gaps'][number] => ({
  above: numberOrNull(gap.aboveLb),
  below: numberOrNull(gap.belowLb),
  packages: gap.packages,
  weight: Number(gap.weightLb),
  current_amount: Number(gap.currentUsd),
});

const numberOrNull = (text: string | null): number | null => (text === null ? null : Number(text));
