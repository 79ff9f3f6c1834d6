import type { CourierSetUpStep, PackageStatistics } from '../../../../sdk/typescript/src/index.js';
import { api } from '../../session/session.js';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10);

/** The steps of the set-up, each with what is missing. */
export const readSteps = async (signal: AbortSignal): Promise<CourierSetUpStep[]> =>
  (await api().couriers.setUp({}, { signal })).data.steps;

/** How many records of each kind wait for the courier. */
export const readWaiting = async (signal: AbortSignal) =>
  (await api().packages.attention({ signal })).data.items;

type Sum = { count: number; weight: number };

export type Received = {
  /** Today in UTC. */
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
export async function readReceived(signal: AbortSignal, now = Date.now()): Promise<Received> {
  const to = dayOf(now);
  const from = dayOf(now - (WEEK_DAYS - 1) * DAY_MS);
  const { data } = await api().packages.statistics({ from, to }, { signal });
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

/** Reads what the parcels of this month cost so far. The service computes it. */
export async function readMonth(courierId: string, signal: AbortSignal, now = Date.now()) {
  const to = dayOf(now);
  const from = `${to.slice(0, 7)}-01`;
  const period = { courier_id: courierId, start_date: from, end_date: to };
  const { summary } = (await api().billing.preview(period, { signal })).data;
  return { from, to, total: summary.grand_total, packages: summary.total_packages };
}
