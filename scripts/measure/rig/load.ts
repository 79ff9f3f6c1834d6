import type pg from 'pg';

export type Amounts = {
  /** The number of its pre-alerts and packages each, and of its customers if `customers` does not say another one. */
  size: number;
  customers?: number;
  /** The newest packages, which are in the warehouse. The others are delivered. Without it, all are in the warehouse. */
  inStock?: number;
  manifestPackages: number;
};

/**
 * Returns statements that fill a tenant: ten couriers with `size` pre-alerts and packages in total, spread evenly over the couriers and
 * over a year. The first packages are on one manifest.
 */
export function loadTenant(slug: string, { size, inStock = size, manifestPackages }: Amounts): string[] {
  const tenant = `(select id from tenants where slug = '${slug}')`;
  // Each courier gets every tenth row; n is the row number within the tenant.
  const courier = `couriers c on c.code = 'C' || n % 10 and c.tenant_id = ${tenant}`;
  const userCode = `c.code || '-' || n`;
  const age = `now() - n * interval '1 year' / ${size}`;
  return [
    `insert into tenants (id, slug, name) values (gen_random_uuid(), '${slug}', '${slug}')`,
    `insert into tenant_hosts (tenant_id, host) values (${tenant}, '${slug}.localhost')`,
    `select set_config('app.tenant_id', ${tenant}::text, true), set_config('app.courier_id', 'all', true)`,
    `insert into users (tenant_id, id, username, full_name, role, password_hash)
     select ${tenant}, gen_random_uuid(), 'admin', 'Bench', 'admin', u.password_hash
     from users u join tenants t on t.id = u.tenant_id where t.slug = 'demo' and u.username = 'admin'`,
    `insert into warehouses (tenant_id, id, name, is_primary) values (${tenant}, gen_random_uuid(), 'Bench', true)`,
    `insert into couriers (tenant_id, id, code, name, house_color)
     select ${tenant}, gen_random_uuid(), 'C' || n, 'Courier ' || n, '#336699' from generate_series(0, 9) n`,
    `insert into rate_tiers (tenant_id, start_weight_lb, end_weight_lb, fee_usd)
     select ${tenant}, start, stop, fee from (values (0, 5, 8.00), (5, 15, 15.00), (15, 50, 40.00)) as t (start, stop, fee)`,
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor, status, created_at)
     select c.tenant_id, gen_random_uuid(), c.id, ${userCode}, 'TRK' || n, 'TRK' || n, 'Vendor ' || n % 500,
       (array['pending', 'received', 'received', 'flagged'])[1 + n % 4], ${age}
     from generate_series(1, ${size}) n join ${courier}`,
    `insert into manifests (tenant_id, id, manifest_number, warehouse_id)
     select ${tenant}, gen_random_uuid(), 'MAN-20260101-000' || n, id from warehouses, generate_series(1, 2) n
     where tenant_id = ${tenant}`,
    `insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name, tracking_number, tracking_key,
       house_number, weight_lb, shipper, warehouse_id, manifest_id, status, received_at)
     select c.tenant_id, gen_random_uuid(), c.id, ${userCode}, 'First' || n % 1000, 'Last' || n, 'PKG' || n, 'PKG' || n,
       'H' || n, 1 + n % 40 + (n % 8) * 0.125, 'Vendor ' || n % 500, m.warehouse_id,
       case when n <= ${manifestPackages} then m.id end, case when n <= ${inStock} then 'received' else 'delivered' end, ${age}
     from generate_series(1, ${size}) n join ${courier}
     join manifests m on m.tenant_id = c.tenant_id and m.manifest_number = 'MAN-20260101-0001'`,
  ];
}

/** Returns a statement that inserts the customers of a tenant, with these names in this order. */
export function loadCustomers(slug: string, names: { first: string; last: string }[]): pg.QueryConfig {
  return {
    text: `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name, branch)
      select c.tenant_id, gen_random_uuid(), c.id, c.code || '-' || n, first, last, 'Branch ' || n % 7
      from unnest($1::text[], $2::text[]) with ordinality names (first, last, n)
      join couriers c on c.code = 'C' || n % 10 and c.tenant_id = (select id from tenants where slug = '${slug}')`,
    values: [names.map(({ first }) => first), names.map(({ last }) => last)],
  };
}
