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

/** Plants packages at enough places of two warehouses for several pages, with shared weights and times. */
export async function insertLocations(owner: pg.Pool): Promise<void> {
  await owner.query(
    `with planted as (
       insert into packages (tenant_id, id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id, received_at)
       select $1, new_id(), 'PLACED' || n, 'PLACED' || n, 'PLC' || n, 1 + n % 3, case when n % 4 = 0 then $3::uuid else $2::uuid end,
         timestamptz '2024-01-01' + make_interval(days => n % 7)
       from generate_series(1, 36) n
       on conflict do nothing
       returning tracking_key)
     insert into parcel_positions (tenant_id, parcel_key, scan, location)
     select $1, tracking_key, tracking_key, 'Row ' || chr(65 + substr(tracking_key, 7)::int % 28 % 3) || '-' || substr(tracking_key, 7)::int % 28
     from planted`,
    [DEMO.tenants.demo, DEMO.warehouses.primary, DEMO.warehouses.second],
  );
}
