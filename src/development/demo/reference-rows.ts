import { AIRLINES, CARRIERS } from '../reference/companies.js';
import { daysBefore } from './values/calendar.js';
import { DAYS_IN_BUSINESS } from './couriers.js';
import { DEMO } from './demo.js';
import { demoId, type TenantSlug } from './values/ids.js';
import type { Row } from './values/rows.js';

export function tenantRow(tenant: TenantSlug, now: Date): Row {
  const names = { demo: 'Miami Gateway Logistics', two: 'Tampa Bay Freight' };
  const createdAt = daysBefore(now, DAYS_IN_BUSINESS);
  return { id: DEMO.tenants[tenant], slug: tenant, name: names[tenant], created_at: createdAt };
}

export function airlineRows(tenant: TenantSlug): Row[] {
  return Object.entries(AIRLINES).map(([prefix, name]) => ({
    tenant_id: DEMO.tenants[tenant],
    prefix,
    name,
  }));
}

export function carrierRows(tenant: TenantSlug): Row[] {
  return CARRIERS.map((name, index) => ({
    tenant_id: DEMO.tenants[tenant],
    id: demoId(tenant, 'carrier', index + 1),
    name,
  }));
}

const WAREHOUSES = {
  demo: [
    {
      id: DEMO.warehouses.primary,
      name: 'Miami Gateway',
      is_primary: true,
      address: '8200 NW 41st Street',
      city: 'Miami',
      phone: '+1 305 555 0180',
      email: 'dock@miami-gateway.example',
    },
    {
      id: DEMO.warehouses.second,
      name: 'Medley Overflow',
      is_primary: false,
      address: '9350 NW 89th Avenue',
      city: 'Medley',
      phone: '+1 305 555 0185',
      email: 'medley@miami-gateway.example',
    },
  ],
  two: [
    {
      id: DEMO.warehouses.two,
      name: 'Tampa Bay Hub',
      is_primary: true,
      address: '4100 W Spruce Street',
      city: 'Tampa',
      phone: '+1 813 555 0126',
      email: 'dock@tampa-bay.example',
    },
  ],
} satisfies Record<TenantSlug, Row[]>;

export function warehouseRows(tenant: TenantSlug, now: Date): Row[] {
  return WAREHOUSES[tenant].map((warehouse) => ({
    tenant_id: DEMO.tenants[tenant],
    ...warehouse,
    country: 'United States',
    created_at: daysBefore(now, DAYS_IN_BUSINESS),
  }));
}
