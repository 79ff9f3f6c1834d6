import { join } from 'node:path';
import type pg from 'pg';
import { openSecrets } from '../../../src/platform/access/secrets.js';
import type { Config } from '../../../src/config/config.js';
import { startEmbeddedPostgres } from '../../../src/development/embedded-postgres/embedded-server.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { seedDemo } from '../../../src/development/demo/seed.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { makeNames } from '../search-quality/names.js';
import { loadCustomers, loadTenant } from './load.js';
import type { Scale } from '../bench/scale.js';
import { openScratchServer, type BenchServer } from './scratch.js';

export type BenchTenant = {
  id: string;
  host: string;
  /** A manifest with the scale's number of packages. */
  manifestId: string;
  /** One of its ten couriers. */
  courierId: string;
  /** The number of its customers, pre-alerts and packages each. */
  size: number;
};

export type BenchDatabase = {
  ownerUrl: string;
  small: BenchTenant;
  large: BenchTenant;
  stop(): Promise<void>;
};

/**
 * Prepares the demo data and one tenant per size of the scale. A full run keeps them for the next run; a
 * smoke run uses a temporary database and removes it.
 */
export async function openBenchDatabase(
  config: Config,
  scale: Scale,
  print: (line: string) => void,
): Promise<BenchDatabase> {
  const server = await (scale.name === 'smoke'
    ? openScratchServer(config)
    : openPersistentServer(config, 'bench', print));
  try {
    await migrate(server.url, MIGRATIONS);
    const tenants = await withClient(server.url, async (client) => {
      await seedDemo(client, openSecrets(config.secrets), new Date());
      const tenantOf = (slug: 'small' | 'large') =>
        ensureTenant(client, slug, { size: scale[slug], manifestPackages: scale.manifestPackages }, print);
      const small = await tenantOf('small');
      return { small, large: await tenantOf('large') };
    });
    return { ownerUrl: server.url, ...tenants, stop: () => server.stop() };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Opens the operator's server, or an embedded one whose data stay in .data/ under the given name. */
export async function openPersistentServer(
  config: Config,
  name: string,
  print: (line: string) => void,
): Promise<BenchServer> {
  if (config.databaseOwnerUrl) return { url: config.databaseOwnerUrl, stop: async () => undefined };
  return startEmbeddedPostgres({
    dataDir: join(projectRoot, '.data', name),
    database: `crossdock_${name}`,
    log: print,
    settings: { shared_buffers: '512MB', max_wal_size: '4GB' },
  });
}

/** Returns the tenant of this slug. Creates and loads it if it does not exist. */
export async function ensureTenant(
  client: pg.Client,
  slug: string,
  amounts: { size: number; manifestPackages: number },
  print: (line: string) => void,
): Promise<BenchTenant> {
  const { size, manifestPackages } = amounts;
  const { rows } = await client.query<Omit<BenchTenant, 'size'>>(
    `select t.id, h.host, m.id as "manifestId", c.id as "courierId" from tenants t
     join tenant_hosts h on h.tenant_id = t.id join couriers c on c.tenant_id = t.id and c.code = 'C0'
     join manifests m on m.tenant_id = t.id and m.manifest_number = 'MAN-20260101-0001' where t.slug = $1`,
    [slug],
  );
  if (rows[0]) return { ...rows[0], size };
  print(`Loading ${size} pre-alerts, customers and packages ...`);
  await client.query('begin');
  for (const statement of loadTenant(slug, size, manifestPackages)) await client.query(statement);
  await client.query(loadCustomers(slug, makeNames(size)));
  await client.query('commit');
  await client.query('vacuum analyze');
  // The rows would pay for the first write to each page after a checkpoint, and for the checkpoint of the load.
  // On a server that is not ours, the owner may lack the right.
  await client.query('checkpoint').catch(() => undefined);
  return ensureTenant(client, slug, amounts, print);
}
