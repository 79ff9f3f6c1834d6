import type { components } from '../../../../generated/contract.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { sumOfCounts, sumOfWeights } from './amounts.js';
import { zoneOfDays } from '../../tenant-settings/public.js';
import { assertPeriod, daysOf, shift } from './period.js';
import {
  AGES,
  agesOfPackages,
  groupsOfPackages,
  type AgeRow,
  type GroupRow,
  type Period,
} from './queries.js';

type Statistics = components['schemas']['PackageStatistics'];
type Amount = { count: number; weight: number };

const DAYS_BEFORE = 7;

/**
 * Returns what was received in a period and a week before, and the ages of what is in the warehouse. Weights are in lb, days are those of
 * UTC or the tenant. Reads all packages of the period.
 * @throws ApiError validation_failed
 */
export async function readStatistics(
  ctx: UserContext,
  query: QueryOf<'getPackageStatistics'>,
): Promise<Statistics> {
  const { from, to, courier_id: courierId = null, day_zone: dayZone } = query;
  assertPeriod(from, to);
  const zone = await zoneOfDays(ctx, dayZone);
  const period = { from, to, zone, daysBefore: DAYS_BEFORE, courierId };
  const [groups, ages] = await ctx.read([groupsOfPackages(ctx, period), agesOfPackages(ctx, period)], {
    from: 'replica',
  });
  return viewStatistics(period, groups, ages);
}

function viewStatistics(period: Period, groups: GroupRow[], ages: AgeRow[]): Statistics {
  const { from, to } = period;
  const ofKind = (kind: GroupRow['kind']) => groups.filter((row) => row.kind === kind);
  const byDay = new Map(ofKind('day').map((row) => [row.day, amountOf(row)]));
  const days = daysOf(from, to).map((date) => {
    const before = byDay.get(shift(date, -DAYS_BEFORE)) ?? NONE;
    return { date, ...(byDay.get(date) ?? NONE), count_before: before.count, weight_before: before.weight };
  });
  const couriers = ofKind('courier').map((row) => ({
    courier_id: row.courierId,
    courier_code: row.courierCode,
    courier_name: row.courierName,
    ...amountOf(row),
    count_before: row.countBefore,
    weight_before: Number(row.weightLbBefore),
  }));
  const byHour = new Map(ofKind('hour').map((row) => [row.hour, amountOf(row)]));
  return {
    from,
    to,
    from_before: shift(from, -DAYS_BEFORE),
    to_before: shift(to, -DAYS_BEFORE),
    total: sumOf(days),
    total_before: sumOf(days.map((day) => ({ count: day.count_before, weight: day.weight_before }))),
    days,
    hours: Array.from({ length: 24 }, (_, hour) => ({ hour, ...(byHour.get(hour) ?? NONE) })),
    couriers,
    statuses: ofKind('status').flatMap((row) => (row.status ? { status: row.status, ...amountOf(row) } : [])),
    in_warehouse: viewAges(ages),
  };
}

function viewAges(rows: AgeRow[]): Statistics['in_warehouse'] {
  const amounts = new Map(rows.map((row) => [row.bucket, amountOf(row)]));
  const ages = AGES.map((days, index) => {
    const next = AGES[index + 1];
    const range = { min_days: days, max_days: next === undefined ? null : next - 1 };
    return { ...range, ...(amounts.get(index + 1) ?? NONE) };
  });
  const oldest = rows.at(-1)?.oldestAt;
  return { ...sumOf(ages), oldest: oldest ? formatDateTime(oldest) : null, ages };
}

const NONE: Amount = { count: 0, weight: 0 };

const amountOf = ({ count, weightLb }: { count: number; weightLb: string }): Amount => ({
  count,
  weight: Number(weightLb),
});

const sumOf = (amounts: readonly Amount[]): Amount => ({
  count: sumOfCounts(amounts.map(({ count }) => count)),
  weight: sumOfWeights(amounts.map(({ weight }) => weight)),
});
