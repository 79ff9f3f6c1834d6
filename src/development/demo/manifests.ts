import { dateBefore, daysBefore } from './values/calendar.js';
import { DEMO } from './demo.js';
import type { Row } from './values/rows.js';

type DaysAgo = [days: number, minuteOfDay: number];

/** When each manifest was created and last changed. The last change of the shipped one was the shipment. */
export const FLIGHT_DAYS: Record<
  'draft' | 'shipped',
  { created: DaysAgo; changed: DaysAgo; flight: number }
> = {
  draft: { created: [1, 1325], changed: [1, 1330], flight: -1 },
  shipped: { created: [6, 845], changed: [5, 1215], flight: 5 },
};

export function manifestRows(now: Date): Row[] {
  return [
    {
      ...manifestRow('draft', 'K7Q2', now),
      awb_number: '106-12345675',
      airline_prefix: '106',
      flight_number: null,
      notes: 'Evening flight to Kingston',
    },
    {
      ...manifestRow('shipped', 'V4TX', now),
      awb_number: '001-48203164',
      airline_prefix: '001',
      flight_number: 'AA 1083',
      notes: null,
    },
  ];
}

function manifestRow(status: 'draft' | 'shipped', suffix: string, now: Date): Row {
  const { created, changed, flight } = FLIGHT_DAYS[status];
  return {
    tenant_id: DEMO.tenants.demo,
    id: DEMO.manifests[status],
    manifest_number: `MAN-${dateBefore(now, created[0]).replaceAll('-', '')}-${suffix}`,
    flight_date: dateBefore(now, flight),
    status,
    warehouse_id: DEMO.warehouses.primary,
    created_at: daysBefore(now, ...created),
    updated_at: daysBefore(now, ...changed),
  };
}
