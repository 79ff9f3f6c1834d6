import type { MovedTenant, OwnedCell } from './cell-state.js';
import { listTenantTables } from './tenant-tables.js';
import { commandLine } from '../../../config/commands.js';

const OLDEST_VERSION = 15;

/**
 * Returns the tables of the tenant, when everything that a move needs is there.
 *
 * @throws Error with one line per fault
 */
export async function assertMovable(
  source: OwnedCell,
  target: OwnedCell,
  tenant: MovedTenant,
): Promise<string[]> {
  const faults = [
    ...(await serverFaults(source)),
    ...(await serverFaults(target)),
    ...(await differences(source, target)),
    ...(await conflicts(source, target, tenant)),
  ];
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const [tables, others] = [await listTenantTables(source.client), await listTenantTables(target.client)];
  if (tables.join() !== others.join())
    throw new Error(
      `The cells ${source.name} and ${target.name} have different tables. Apply the same migrations to both.`,
    );
  return tables;
}

async function serverFaults({ name, client }: OwnedCell): Promise<string[]> {
  const { rows } = await client.query<
    Record<'version' | 'unfinished', number> & { wal: string; bypasses: boolean }
  >(
    `select current_setting('server_version_num')::int / 10000 as version, current_setting('wal_level') as wal,
       (select rolsuper or (rolbypassrls and rolreplication) from pg_roles where rolname = current_user) as bypasses,
       (select count(*)::int from installation.background_migrations where status <> 'finished') as unfinished`,
  );
  const [server] = rows;
  return [
    ...((server?.version ?? 0) < OLDEST_VERSION
      ? [`The cell ${name} needs PostgreSQL ${OLDEST_VERSION} or newer.`]
      : []),
    ...(server?.wal === 'logical'
      ? []
      : [`The cell ${name} needs wal_level=logical, and a restart of its server.`]),
    ...(server?.bypasses
      ? []
      : [
          `The owner's connection of the cell ${name} needs a superuser, or a role that replicates and bypasses row-level security.`,
        ]),
    ...(server?.unfinished ? [`The cell ${name} has a background migration that has not finished.`] : []),
  ];
}

async function differences(source: OwnedCell, target: OwnedCell): Promise<string[]> {
  const [one, other] = [await readIdentity(source), await readIdentity(target)];
  return [
    ...(one.database === other.database
      ? [`The cells ${source.name} and ${target.name} are the same database.`]
      : []),
    ...(one.migrations === other.migrations
      ? []
      : [
          `The cells ${source.name} and ${target.name} have different migrations. Run ${commandLine('migrate')} for both.`,
        ]),
    ...(one.keys.some((key) => other.keys.includes(key))
      ? []
      : [
          `No deployment has used both cells with the same ENCRYPTION_KEYS and LOOKUP_KEY. Without them, the tenant's secrets and its audit chain are lost. Start the service with both cells.`,
        ]),
  ];
}

type Identity = { database: string; migrations: string; keys: string[] };

/** The keys are fingerprints of the current keys of each deployment. */
async function readIdentity({ client }: OwnedCell): Promise<Identity> {
  const { rows } = await client.query<Identity>(
    `select (select system_identifier from pg_control_system()) || ' ' || current_database() as database,
       (select string_agg(migration_name, ' ' order by migration_name) from _prisma_migrations
        where finished_at is not null) as migrations,
       array(select concat_ws(' ', name, app_env, fingerprints -> 'ENCRYPTION_KEYS' ->> 0, fingerprints -> 'LOOKUP_KEY' ->> 0)
         from installation.deployments) as keys`,
  );
  return rows[0] ?? { database: '', migrations: '', keys: [] };
}

/** Returns what the target already has of the tenant. */
async function conflicts(source: OwnedCell, target: OwnedCell, { id, slug }: MovedTenant): Promise<string[]> {
  const { rows } = await source.client.query<{ host: string }>(
    'select host from tenant_hosts where tenant_id = $1',
    [id],
  );
  const { rows: tenants } = await target.client.query<{ slug: string }>(
    `select slug from tenants t where (t.id = $1 or t.slug = $2)
       and not exists (select from installation.tenant_cells c where c.tenant_id = t.id and c.role = 'target')`,
    [id, slug],
  );
  const { rows: hosts } = await target.client.query<{ host: string }>(
    'select host from tenant_hosts where tenant_id <> $1 and host = any($2)',
    [id, rows.map(({ host }) => host)],
  );
  return [
    ...tenants.map((tenant) => `The cell ${target.name} already has a tenant ${tenant.slug}.`),
    ...hosts.map(({ host }) => `The host ${host} belongs to another tenant in the cell ${target.name}.`),
  ];
}
