// The figures of a day, from its packages. Without the DOM.
// Not from the index: tests import this file, and the index needs the types of a browser.
import type { PackageRecord } from '../../../sdk/typescript/src/generated/core/types.gen.js';

type Counted = Pick<PackageRecord, 'entry_date_time' | 'courier_name' | 'user_code' | 'weight' | 'status'>;

export type Day = {
  received: number;
  weight: number;
  withoutOwner: number;
  /** Packages per hour of the day, 24 numbers, in the time zone of this device. */
  hours: number[];
  couriers: { name: string | null; count: number; share: number }[];
};

/** Returns when the day of a moment began here, as the date in UTC that the service filters by. */
export const startOfDay = (now: Date): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate());

/** Counts the packages since `start`. The service filters by dates in UTC, so earlier ones may be among them. */
export function countDay(packages: Counted[], start: Date): Day {
  const own = packages
    .map((counted) => ({ ...counted, at: new Date(`${counted.entry_date_time.replace(' ', 'T')}Z`) }))
    .filter(({ at }) => at >= start);
  const hours = Array.from(
    { length: 24 },
    (_, hour) => own.filter(({ at }) => at.getHours() === hour).length,
  );
  const counts = new Map<string | null, number>();
  for (const { courier_name } of own) counts.set(courier_name, (counts.get(courier_name) ?? 0) + 1);
  return {
    received: own.length,
    weight: own.reduce((sum, { weight }) => sum + weight, 0),
    withoutOwner: own.filter(({ user_code }) => user_code === null).length,
    hours,
    couriers: [...counts]
      .map(([name, count]) => ({ name, count, share: count / own.length }))
      .sort((a, b) => b.count - a.count),
  };
}
