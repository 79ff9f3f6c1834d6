import type pg from 'pg';
import type { Print } from '../rig/database.js';
import type { BenchTenant } from '../rig/tenants.js';

const COURIERS = 200;
const MANIFESTS = 300;
const SCANS = 200_000;

type Office = {
  /** The number of the newest packages, which are in the warehouse. */
  inStock: number;
  print: Print;
};

/**
 * Makes the tenant of the bench an office: 200 couriers, some of the newest packages without a customer, flights of a year, places and
 * scans. Does nothing if it is one.
 */
export async function fillOffice(
  client: pg.Client,
  { id, size }: BenchTenant,
  { inStock, print }: Office,
): Promise<void> {
  const { rows } = await client.query<{ couriers: number }>(
    'select count(*)::int as couriers from couriers where tenant_id = $1',
    [id],
  );
  if ((rows[0]?.couriers ?? 0) >= COURIERS) return;
  print('Making flights, places and scans ...');
  await client.query('begin');
  const statements: [text: string, values: unknown[]][] = [
    [
      `insert into couriers (tenant_id, id, code, name, house_color)
       select $1, gen_random_uuid(), 'C' || n, 'Courier ' || n, '#336699' from generate_series(10, $2::int - 1) n`,
      [id, COURIERS],
    ],
    [
      `insert into manifests (tenant_id, id, manifest_number, warehouse_id, status, flight_date, awb_number, created_at)
       select $1, gen_random_uuid(), 'MAN-' || to_char(now() - n * interval '1 day', 'YYYYMMDD') || '-9999', w.id, 'completed',
         (now() - n * interval '1 day')::date, '001-' || (10000000 + n), now() - n * interval '1 day'
       from generate_series(1, $2::int) n, warehouses w where w.tenant_id = $1`,
      [id, MANIFESTS],
    ],
    [
      `update packages set user_code = null where tenant_id = $1 and substr(house_number, 2)::int <= $2
       and substr(house_number, 2)::int % 100 = 0`,
      [id, inStock],
    ],
    [
      `insert into parcel_positions (tenant_id, parcel_key, scan, location)
       select tenant_id, tracking_key, tracking_key, 'A-' || substr(house_number, 2)::int % 300 from packages
       where tenant_id = $1 and substr(house_number, 2)::int <= $2`,
      [id, inStock],
    ],
    [
      `insert into scans (tenant_id, id, station, kind, scanned_at, arrived_at, user_id, scan, parcel_key, details, content_hash, outcome)
       select p.tenant_id, gen_random_uuid(), 'Belt ' || substr(p.house_number, 2)::int % 12, 'receive', p.received_at, p.received_at, u.id,
         p.tracking_number, p.tracking_key, '{}', 'bench', 'done'
       from packages p join users u on u.tenant_id = p.tenant_id and u.username = 'admin'
       where p.tenant_id = $1 and substr(p.house_number, 2)::int <= $2`,
      [id, Math.min(size, SCANS)],
    ],
  ];
  await client.query(
    `select set_config('app.tenant_id', $1, true), set_config('app.courier_id', 'all', true)`,
    [id],
  );
  for (const [text, values] of statements) await client.query(text, values);
  await client.query('commit');
  await client.query('vacuum analyze');
}
