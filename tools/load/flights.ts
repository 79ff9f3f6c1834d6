import type { Row } from '../../fixtures/demo/values/rows.js';
import type { TenantPlan } from './tenant-plan.js';
import { DAY_MS, dateOf, HOUR_MS, iso, weekdayOf } from './values/time.js';

/** A manifest: one per warehouse and flight day. */
export type Flight = {
  id: string;
  number: string;
  awb: string;
  warehouseId: string;
  dayMs: number;
  createdMs: number;
  /** What has happened by the end of the period, in order. */
  transitions: { status: 'ready' | 'shipped' | 'completed'; atMs: number }[];
};

/** Tuesday, Thursday and Saturday. The second warehouse fills a flight only once a week. */
const FLIGHT_DAYS = [[2, 4, 6], [6]];

export function planFlights(plan: TenantPlan): Flight[] {
  const { startMs, endMs, warehouses } = plan;
  const days = Array.from({ length: Math.round((endMs - startMs) / DAY_MS) }, (_, n) => startMs + n * DAY_MS);
  // The first day has no evening before it.
  return days
    .slice(1)
    .flatMap((dayMs) =>
      warehouses.flatMap((warehouseId, n) =>
        FLIGHT_DAYS[n]?.includes(weekdayOf(dayMs)) ? [planFlight(plan, warehouseId, dayMs)] : [],
      ),
    );
}

function planFlight({ random, operator, endMs }: TenantPlan, warehouseId: string, dayMs: number): Flight {
  const minutes = (most: number) => random.whole(0, most) * 60_000;
  const createdMs = dayMs - 6 * HOUR_MS + minutes(40);
  const serial = random.digits(7);
  const suffix = Array.from({ length: 4 }, () => random.pick([...'23456789ABCDEFGHJKMNPQRSTUVWXYZ'])).join(
    '',
  );
  const planned = [
    { status: 'ready' as const, atMs: dayMs + 5 * HOUR_MS + minutes(90) },
    { status: 'shipped' as const, atMs: dayMs + 9 * HOUR_MS + minutes(120) },
    { status: 'completed' as const, atMs: dayMs + random.whole(1, 2) * DAY_MS + 14 * HOUR_MS + minutes(300) },
  ];
  return {
    id: random.id(createdMs),
    number: `MAN-${dateOf(createdMs).replaceAll('-', '')}-${suffix}`,
    awb: `${operator.airline}-${serial}${Number(serial) % 7}`,
    ...{ warehouseId, dayMs, createdMs },
    transitions: planned.filter(({ atMs }) => atMs < endMs),
  };
}

export function flightRows({ id: tenantId, operator }: TenantPlan, flights: Flight[]): Row[] {
  return flights.map(({ id, number, awb, warehouseId, dayMs, createdMs, transitions }) => ({
    tenant_id: tenantId,
    id,
    manifest_number: number,
    awb_number: awb,
    airline_prefix: operator.airline,
    flight_date: dateOf(dayMs),
    flight_number: `${operator.airline === '106' ? 'BW' : 'FX'} ${400 + weekdayOf(dayMs)}`,
    status: transitions.at(-1)?.status ?? 'draft',
    notes: weekdayOf(dayMs) === 6 ? 'Saturday freighter' : null,
    warehouse_id: warehouseId,
    created_at: iso(createdMs),
    updated_at: iso(transitions.at(-1)?.atMs ?? createdMs),
  }));
}
