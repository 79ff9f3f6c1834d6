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
