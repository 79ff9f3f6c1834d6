import { DAY_MS, dayAfter, localDay, utcDay } from '../../../ui/data/days.js';

/** The longest period of a report, in days. The service refuses longer ones. */
export const MOST_DAYS = 31;

/** A day of the service's figures. Weights are in lb. */
type Day = { date: string; count: number; weight: number; count_before: number; weight_before: number };

export type Unit = 'day' | 'week';

/** What was received in a day or a week. `start` is its first day within the period. */
export type Received = {
  start: string;
  count: number;
  weight: number;
  countBefore: number;
  weightBefore: number;
};

const msOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** Returns what is wrong with a period, if anything is. */
export function faultOf(from: string, to: string): 'reversed' | 'tooLong' | undefined {
  if (to < from) return 'reversed';
  return (msOf(to) - msOf(from)) / DAY_MS >= MOST_DAYS ? 'tooLong' : undefined;
}

/** Returns the days of the period, or its weeks. A week begins on Monday, so that the first and the last one may be shorter. */
export function receivedPer(unit: Unit, days: Day[]): Received[] {
  const groups = new Map<string, Received>();
  for (const { date, count, weight, count_before, weight_before } of days) {
    const key = unit === 'day' ? date : mondayOf(date);
    const group = groups.get(key) ?? { start: date, count: 0, weight: 0, countBefore: 0, weightBefore: 0 };
    groups.set(key, {
      start: group.start,
      count: group.count + count,
      weight: sum(group.weight, weight),
      countBefore: group.countBefore + count_before,
      weightBefore: sum(group.weightBefore, weight_before),
    });
  }
  return [...groups.values()];
}

/** Returns the last day of a day or a week that begins at `start`, at most `to`, the last day of the period. */
export const lastDayOf = (unit: Unit, start: string, to: string): string => {
  if (unit === 'day') return start;
  const sunday = utcDay(msOf(mondayOf(start)) + 6 * DAY_MS);
  return sunday < to ? sunday : to;
};

/** Returns Monday to Sunday of the week before the present one. */
export function lastWeek(nowMs = Date.now(), zone = 'UTC'): { from: string; to: string } {
  const monday = mondayOf(localDay(nowMs, zone));
  return { from: dayAfter(monday, -7), to: dayAfter(monday, -1) };
}

const mondayOf = (day: string): string =>
  utcDay(msOf(day) - ((new Date(msOf(day)).getUTCDay() + 6) % 7) * DAY_MS);

/** In thousandths of a lb, because a sum of fractions is not exact. */
const sum = (one: number, other: number): number =>
  (Math.round(one * 1000) + Math.round(other * 1000)) / 1000;
