import { join } from 'node:path';
import type pg from 'pg';
import { openSecrets } from '../../src/auth/secrets.js';
import type { Config } from '../../src/config.js';
import { startEmbeddedPostgres } from '../../src/db/embedded.js';
import { migrate } from '../../src/db/migrate.js';
import { MIGRATIONS } from '../../src/db/prepare.js';
import { withClient } from '../../src/db/roles.js';
import { seedDemo } from '../../src/demo/seed.js';
import { projectRoot } from '../../src/root.js';

export type BenchTenant = { id: string; host: string; manifestId: string };

export type BenchDatabase = {
  ownerUrl: string;
  small: BenchTenant;
  large: BenchTenant;
  stop(): Promise<void>;
};

const SIZES = { small: 10_000, large: 1_000_000 };
const MANIFEST_PACKAGES = 2_000;

/** The demo data, one tenant with 10,000 pre-alerts and one with 1,000,000; kept from run to run. */
export async function openBenchDatabase(
  config: Config,
  print: (line: string) => void,
): Promise<BenchDatabase> {
  const server = config.databaseOwnerUrl
    ? { url: config.databaseOwnerUrl, stop: async () => {} }
    : await startEmbeddedPostgres({
        dataDir: join(projectRoot, '.data', 'bench'),
        database: 'crossdock_bench',
        log: print,
        settings: { shared_buffers: '512MB', max_wal_size: '4GB' },
      });
  await migrate(server.url, MIGRATIONS);
  const tenants = await withClient(server.url, async (client) => {
    await seedDemo(client, openSecrets(config.secrets), new Date());
    const small = await ensureTenant(client, 'small', print);
    return { small, large: await ensureTenant(client, 'large', print) };
  });
  return { ownerUrl: server.url, ...tenants, stop: () => server.stop() };
}

async function ensureTenant(
  client: pg.Client,
  slug: keyof typeof SIZES,
  print: (line: string) => void,
): Promise<BenchTenant> {
  const { rows } = await client.query<BenchTenant>(
    `select t.id, h.host, m.id as "manifestId" from tenants t
     join tenant_hosts h on h.tenant_id = t.id join manifests m on m.tenant_id = t.id where t.slug = $1`,
    [slug],
  );
  if (rows[0]) return rows[0];
  print(`Loading ${SIZES[slug]} pre-alerts ...`);
  await client.query('begin');
  for (const statement of loadTenant(slug)) await client.query(statement);
  await client.query('commit');
  await client.query('vacuum analyze');
  return ensureTenant(client, slug, print);
}

/** Ten couriers with a hundred customers each, the pre-alerts spread evenly over them and over a year. */
function loadTenant(slug: keyof typeof SIZES): string[] {
  const tenant = `(select id from tenants where slug = '${slug}')`;
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
    `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
     select c.tenant_id, gen_random_uuid(), c.id, c.code || '-' || n, 'First' || n, 'Last' || n
     from couriers c, generate_series(0, 99) n where c.tenant_id = ${tenant}`,
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, vendor, status, created_at)
     select c.tenant_id, gen_random_uuid(), c.id, c.code || '-' || n % 100, 'TRK' || n, 'TRK' || n, 'Vendor ' || n % 500,
       (array['pending', 'received', 'received', 'flagged'])[1 + n % 4], now() - n * interval '1 year' / ${SIZES[slug]}
     from generate_series(1, ${SIZES[slug]}) n join couriers c on c.code = 'C' || n % 10 and c.tenant_id = ${tenant}`,
    `insert into manifests (tenant_id, id, manifest_number, warehouse_id)
     select ${tenant}, gen_random_uuid(), 'MAN-20260101-0001', id from warehouses where tenant_id = ${tenant}`,
    `insert into packages (tenant_id, id, courier_id, user_code, first_name, last_name, tracking_number, tracking_key,
       house_number, weight_lb, warehouse_id, manifest_id)
     select c.tenant_id, gen_random_uuid(), c.id, c.code || '-' || n % 100, 'First', 'Last', 'PKG' || n, 'PKG' || n,
       'H' || n, 1 + n % 40, m.warehouse_id, m.id
     from generate_series(1, ${MANIFEST_PACKAGES}) n join couriers c on c.code = 'C' || n % 10 and c.tenant_id = ${tenant}
     join manifests m on m.tenant_id = c.tenant_id`,
  ];
}
