import type { CourierSetUpStep, PackageStatistics } from '../../../../sdk/typescript/src/index.js';
import { settings } from '../../device/settings.js';
import { api } from '../../session/session.js';
import { lastDays, utcDay } from '../../ui/data/days.js';

const WEEK_DAYS = 7;

/** The steps of the set-up, each with what is missing. */
export const readSteps = async (signal: AbortSignal): Promise<CourierSetUpStep[]> =>
  (await api().couriers.setUp({}, { signal })).data.steps;

/** How many records of each kind wait for the courier. */
export const readWaiting = async (signal: AbortSignal) =>
  (await api().packages.attention({ signal })).data.items;

type Sum = { count: number; weight: number };

export type Received = {
  /** Today in the warehouse. */
  today: Sum & { date: string };
  /** The whole same day of last week. */
  sameDay: Sum;
  /** The first of the last 7 days. Today is the last one. */
  from: string;
  /** The last 7 days, and the 7 days before. */
  days: Sum;
  before: Sum;
  inWarehouse: PackageStatistics['in_warehouse'];
};

/** Reads what was received in the last 7 days and the 7 days before. */
export async function readReceived(signal: AbortSignal): Promise<Received> {
  const { from, to } = lastDays(WEEK_DAYS, Date.now(), settings.value.timeZone);
  const { data } = await api().packages.statistics({ from, to, day_zone: 'tenant' }, { signal });
  const last = data.days.find(({ date }) => date === to);
  return {
    today: { date: to, count: last?.count ?? 0, weight: last?.weight ?? 0 },
    sameDay: { count: last?.count_before ?? 0, weight: last?.weight_before ?? 0 },
    from,
    days: data.total,
    before: data.total_before,
    inWarehouse: data.in_warehouse,
  };
}

/** The days of this month until today, in UTC. */
export function thisMonth(): { from: string; to: string } {
  const to = utcDay();
  return { from: `${to.slice(0, 7)}-01`, to };
}

/** Reads what the parcels of a period cost. The service computes it and stores nothing. */
export const readMonth = async (
  courierId: string,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
) =>
  (await api().billing.preview({ courier_id: courierId, start_date: from, end_date: to }, { signal })).data;
