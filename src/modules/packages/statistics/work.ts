import type { components } from '../../../../generated/contract.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { sumOfCounts, sumOfWeights } from './amounts.js';
import { zoneOfDays } from '../../tenant-settings/public.js';
import { assertPeriod, daysOf } from './period.js';
import { amountsOfWork, workOfPeople, type AmountRow, type PersonRow } from './work-queries.js';

type Work = components['schemas']['WorkStatistics'];
type Amount = components['schemas']['WorkAmount'];

/**
 * Returns what was shipped, announced and received without a customer in a period, and who did how much. Weights are in lb, days are
 * those of UTC or the tenant.
 * @throws ApiError validation_failed
 */
export async function readWork(ctx: UserContext, query: QueryOf<'getWorkStatistics'>): Promise<Work> {
  const { from, to, courier_id: courierId = null, day_zone: dayZone } = query;
  assertPeriod(from, to);
  const period = { from, to, zone: await zoneOfDays(ctx, dayZone), courierId };
  const [amounts, people] = await ctx.read([amountsOfWork(ctx, period), workOfPeople(ctx, period)], {
    from: 'replica',
  });
  const byDay = new Map(amounts.filter(({ isCourier }) => !isCourier).map((row) => [row.day, amountOf(row)]));
  const days = daysOf(from, to).map((date) => ({ date, ...(byDay.get(date) ?? NONE) }));
  const couriers = amounts.filter(({ isCourier }) => isCourier).map(viewCourier);
  return { from, to, total: sumOf(days), days, couriers, people: people.map(viewPerson) };
}

const NONE: Amount = { shipped: 0, shipped_weight: 0, announced: 0, unknown: 0, unknown_weight: 0 };

const amountOf = (row: AmountRow): Amount => ({
  shipped: row.shipped,
  shipped_weight: Number(row.shippedLb),
  announced: row.announced,
  unknown: row.unknown,
  unknown_weight: Number(row.unknownLb),
});

const viewCourier = (row: AmountRow): Work['couriers'][number] => ({
  courier_id: row.courierId,
  courier_code: row.courierCode,
  courier_name: row.courierName,
  ...amountOf(row),
});

const viewPerson = ({ id, fullName, ...row }: PersonRow): Work['people'][number] => ({
  user_id: id,
  full_name: fullName,
  ...row,
});

const sumOf = (amounts: readonly Amount[]): Amount => ({
  shipped: sumOfCounts(amounts.map(({ shipped }) => shipped)),
  shipped_weight: sumOfWeights(amounts.map(({ shipped_weight: weight }) => weight)),
  announced: sumOfCounts(amounts.map(({ announced }) => announced)),
  unknown: sumOfCounts(amounts.map(({ unknown }) => unknown)),
  unknown_weight: sumOfWeights(amounts.map(({ unknown_weight: weight }) => weight)),
});
