import type pg from 'pg';
import type { Config } from '../../../src/config/config.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { placeOf, withDatabase, type Print } from './database.js';
import { loadCustomers, loadTenant, type Amounts } from './load.js';
import { makeNames } from './names.js';
import type { Scale } from './scale.js';

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
};

type BenchPlace = {
  config: Config;
  scale: Scale;
  print: Print;
  /** Additional settings of an embedded server with kept data. */
  settings?: Record<string, string>;
};

/**
 * Prepares the demo data and one tenant per size of the scale for `work`. A full run keeps them for the next run; a
 * smoke run uses a temporary database and removes it.
 */
export function withBenchDatabase<Result>(
  { config, scale, print, settings = {} }: BenchPlace,
  work: (database: BenchDatabase) => Promise<Result>,
): Promise<Result> {
  return withDatabase(config, { place: placeOf(scale.name, 'bench'), print, settings }, async (ownerUrl) => {
    const tenants = await withClient(ownerUrl, async (client) => {
      const tenantOf = (slug: 'small' | 'large') =>
        ensureTenant(client, slug, { size: scale[slug], manifestPackages: scale.manifestPackages }, print);
      return { small: await tenantOf('small'), large: await tenantOf('large') };
    });
    return work({ ownerUrl, ...tenants });
  });
}

/** Returns the tenant of this slug. Creates and loads it if it does not exist. */
export async function ensureTenant(
  client: pg.Client,
  slug: string,
  amounts: Amounts,
  print: Print,
): Promise<BenchTenant> {
  const { size, customers = size } = amounts;
  const { rows } = await client.query<Omit<BenchTenant, 'size'>>(
    `select t.id, h.host, m.id as "manifestId", c.id as "courierId" from tenants t
     join tenant_hosts h on h.tenant_id = t.id join couriers c on c.tenant_id = t.id and c.code = 'C0'
     join manifests m on m.tenant_id = t.id and m.manifest_number = 'MAN-20260101-0001' where t.slug = $1`,
    [slug],
  );
  if (rows[0]) return { ...rows[0], size };
  print(`Loading ${size} pre-alerts and packages, and ${customers} customers ...`);
  await client.query('begin');
  for (const statement of loadTenant(slug, amounts)) await client.query(statement);
  await client.query(loadCustomers(slug, makeNames(customers)));
  await client.query('commit');
  await client.query('vacuum analyze');
  // The rows would pay for the first write to each page after a checkpoint, and for the checkpoint of the load.
  // On a server that is not ours, the owner may lack the right.
  await client.query('checkpoint').catch(() => undefined);
  return ensureTenant(client, slug, amounts, print);
}
