// The figures of a day, from its packages. Without the DOM.
// Not from the index: tests import this file, and the index needs the types of a browser.
import type { PackageRecord } from '../../../sdk/typescript/src/generated/core/types.gen.js';

type Counted = Pick<PackageRecord, 'entry_date_time' | 'courier_name' | 'user_code' | 'weight' | 'status'>;

export type Day = {
  received: number;
  weight: number;
  withoutOwner: number;
  /** Packages per hour of the day, 24 numbers, in the time zone of the tenant. */
  hours: number[];
  couriers: { name: string | null; count: number; share: number }[];
};

/** Counts the packages of a day. @param hourOf the hour of a moment on the clock of the warehouse */
export function countDay(packages: Counted[], hourOf: (ms: number) => number): Day {
  const received = packages.map(({ entry_date_time }) =>
    hourOf(Date.parse(`${entry_date_time.replace(' ', 'T')}Z`)),
  );
  const hours = Array.from({ length: 24 }, (_, hour) => received.filter((each) => each === hour).length);
  const counts = new Map<string | null, number>();
  for (const { courier_name } of packages) counts.set(courier_name, (counts.get(courier_name) ?? 0) + 1);
  return {
    received: packages.length,
    weight: packages.reduce((sum, { weight }) => sum + weight, 0),
    withoutOwner: packages.filter(({ user_code }) => user_code === null).length,
    hours,
    couriers: [...counts]
      .map(([name, count]) => ({ name, count, share: count / packages.length }))
      .sort((a, b) => b.count - a.count),
  };
}
