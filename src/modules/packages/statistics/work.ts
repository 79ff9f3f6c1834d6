import type { components } from '../../../../generated/contract.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { assertPeriod, daysOf } from './period.js';
import { amountsOfWork, workOfPeople, type AmountRow, type PersonRow } from './work-queries.js';

type Work = components['schemas']['WorkStatistics'];
type Amount = components['schemas']['WorkAmount'];

/**
 * Returns what was shipped, announced and received without a customer in a period, and who did how much. Weights are in lb, days are
 * those of UTC.
 * @throws ApiError validation_failed
 */
export async function readWork(ctx: UserContext, query: QueryOf<'getWorkStatistics'>): Promise<Work> {
  const { from, to, courier_id: courierId = null } = query;
  assertPeriod(from, to);
  const period = { from, to, courierId };
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

/** Adds weights in thousandths of a lb, because a sum of fractions is not exact. */
function sumOf(amounts: readonly Amount[]): Amount {
  const sum = (key: keyof Amount, unit: number) =>
    amounts.reduce((total, amount) => total + Math.round(amount[key] * unit), 0) / unit;
  return {
    shipped: sum('shipped', 1),
    shipped_weight: sum('shipped_weight', 1000),
    announced: sum('announced', 1),
    unknown: sum('unknown', 1),
    unknown_weight: sum('unknown_weight', 1000),
  };
}
