import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/demo.js';

/** Plants enough couriers for several pages, a quarter of them inactive, with shared names and times. */
export async function insertCouriers(owner: pg.Pool): Promise<void> {
  await owner.query(
    `insert into couriers (tenant_id, id, code, name, is_active, created_at)
     select $1, new_id(), 'P' || lpad(n::text, 2, '0'), 'Planted ' || chr(90 - n % 5), n % 4 > 0, now() - make_interval(days => n % 7)
     from generate_series(1, 24) n
     on conflict do nothing`,
    [DEMO.tenants.demo],
  );
}

/** Plants enough manifests for several pages, with shared days and without a flight date. */
export async function insertManifests(owner: pg.Pool): Promise<void> {
  await owner.query(
    `insert into manifests (tenant_id, id, manifest_number, flight_date, status, warehouse_id, created_at)
     select $1, new_id(), 'MAN-20240101-P' || lpad(n::text, 3, '0'), case when n % 5 > 0 then date '2024-01-01' + n % 7 end,
       'completed', $2, timestamptz '2024-01-01' + make_interval(days => n % 7)
     from generate_series(1, 24) n
     on conflict do nothing`,
    [DEMO.tenants.demo, DEMO.warehouses.primary],
  );
}
