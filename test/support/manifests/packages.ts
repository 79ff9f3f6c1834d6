import { DEMO } from '../../../fixtures/demo/seed.js';
import type { Db } from '../fixture/db.js';

export type PackageOptions = {
  courierId?: string | null;
  userCode?: string;
  status?: string;
  manifestId?: string;
  weightLb?: string;
  receivedAt?: string;
};

export const PACKAGE_STATUSES = [
  'received',
  'shipped',
  'in_transit',
  'delivered',
  'on_hold',
  'customs_hold',
  'returned',
  'lost',
];

/** As many ids as requested. Tests use the first few without a check. */
type Ids = [string, string, string, ...string[]];

let inserted = 0;

/** Inserts packages of the demo tenant, by default received ones of IEX without a customer. Returns their ids. */
export async function insertPackages(db: Db, many: number, options: PackageOptions = {}): Promise<Ids> {
  const from = 1_000_000 + inserted;
  inserted += many;
  const { courierId = DEMO.couriers.IEX, userCode = null, status = 'received', manifestId = null } = options;
  const rows = await db.query<{ id: string }>(
    `insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name, tracking_number, tracking_key,
       house_number, weight_lb, status, warehouse_id, manifest_id, received_at)
     select $1, gen_random_uuid(), $2, $3::text, case when $3::text is not null then 'Ann' end,
       case when $3::text is not null then 'Bell' end, 'TEST' || n, 'TEST' || n, 'T' || n,
       coalesce($4::numeric, 1 + n % 997 * 0.013), $5, $6, $7, coalesce($8::timestamptz, now())
     from generate_series($9::int + 1, $9::int + $10::int) as n
     returning id`,
    [
      DEMO.tenants.demo,
      courierId,
      userCode,
      options.weightLb ?? null,
      status,
      DEMO.warehouses.primary,
      manifestId,
      options.receivedAt ?? null,
      from,
      many,
    ],
  );
  // The statement inserted this many rows.
  return rows.map(({ id }) => id) as Ids;
}

/** Returns the statuses that packages have, each once. */
export const statusesOf = async (db: Db, packageIds: string[]): Promise<string[]> => [
  ...new Set((await db.all('packages', { id: packageIds })).map(({ status }) => status)),
];
