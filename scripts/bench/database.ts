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
import { makeNames } from '../search-quality/names.js';
import { loadCustomers, loadTenant } from './load.js';

export type BenchTenant = {
  id: string;
  host: string;
  /** Holds MANIFEST_PACKAGES packages. */
  manifestId: string;
  /** One of its ten couriers. */
  courierId: string;
};

export type BenchDatabase = {
  ownerUrl: string;
  small: BenchTenant;
  large: BenchTenant;
  stop(): Promise<void>;
};

const SIZES = { small: 10_000, large: 1_000_000 };

/** The demo data, one tenant with 10,000 rows of everything and one with 1,000,000; kept from run to run. */
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
    `select t.id, h.host, m.id as "manifestId", c.id as "courierId" from tenants t
     join tenant_hosts h on h.tenant_id = t.id join couriers c on c.tenant_id = t.id and c.code = 'C0'
     join manifests m on m.tenant_id = t.id and m.manifest_number = 'MAN-20260101-0001' where t.slug = $1`,
    [slug],
  );
  if (rows[0]) return rows[0];
  print(`Loading ${SIZES[slug]} pre-alerts, customers and packages ...`);
  await client.query('begin');
  for (const statement of loadTenant(slug, SIZES[slug])) await client.query(statement);
  await client.query(loadCustomers(slug, makeNames(SIZES[slug])));
  await client.query('commit');
  await client.query('vacuum analyze');
  return ensureTenant(client, slug, print);
}
