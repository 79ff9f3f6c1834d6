import { readRow, readValue, readValues } from '../connections/rows.js';
import type { MovedTenant, OwnedCell } from './cell-state.js';
import { OLDEST_VERSION } from '../connections/roles.js';
import { listTenantTables } from './tenant-tables.js';
import { commandLine } from '../../../config/commands.js';

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
  const server = await readRow<Record<'version' | 'unfinished', number> & { wal: string; bypasses: boolean }>(
    client,
    `select current_setting('server_version_num')::int / 10000 as version, current_setting('wal_level') as wal,
       (select rolsuper or (rolbypassrls and rolreplication) from pg_roles where rolname = current_user) as bypasses,
       (select count(*)::int from installation.background_migrations where status <> 'finished') as unfinished`,
  );
  return failing([
    [server.version >= OLDEST_VERSION, `The cell ${name} needs PostgreSQL ${OLDEST_VERSION} or newer.`],
    [server.wal === 'logical', `The cell ${name} needs wal_level=logical, and a restart of its server.`],
    [
      server.bypasses,
      `The owner's connection of the cell ${name} needs a superuser, or a role that replicates and bypasses row-level security.`,
    ],
    [server.unfinished === 0, `The cell ${name} has a background migration that has not finished.`],
  ]);
}

async function differences(source: OwnedCell, target: OwnedCell): Promise<string[]> {
  const [one, other] = [await readIdentity(source), await readIdentity(target)];
  const cells = `The cells ${source.name} and ${target.name}`;
  return failing([
    [one.database !== other.database, `${cells} are the same database.`],
    [
      one.migrations === other.migrations,
      `${cells} have different migrations. Run ${commandLine('migrate')} for both.`,
    ],
    [
      one.keys.some((key) => other.keys.includes(key)),
      `No deployment has used both cells with the same ENCRYPTION_KEYS and LOOKUP_KEY. Without them, the tenant's secrets and its audit chain are lost. Start the service with both cells.`,
    ],
  ]);
}

/** Returns the messages of the requirements that are not met. */
const failing = (requirements: [isMet: boolean, message: string][]): string[] =>
  requirements.flatMap(([isMet, message]) => (isMet ? [] : message));

type Identity = { database: string; migrations: string; keys: string[] };

/** The keys are fingerprints of the current keys of each deployment. */
const readIdentity = ({ client }: OwnedCell): Promise<Identity> =>
  readRow(
    client,
    `select (select system_identifier from pg_control_system()) || ' ' || current_database() as database,
       (select string_agg(migration_name, ' ' order by migration_name) from _prisma_migrations
        where finished_at is not null) as migrations,
       array(select concat_ws(' ', name, app_env, fingerprints -> 'ENCRYPTION_KEYS' ->> 0, fingerprints -> 'LOOKUP_KEY' ->> 0)
         from installation.deployments) as keys`,
  );

/** Returns what the target already has of the tenant. */
async function conflicts(source: OwnedCell, target: OwnedCell, { id, slug }: MovedTenant): Promise<string[]> {
  const own = await readValues(source.client, 'select host from tenant_hosts where tenant_id = $1', [id]);
  const slugs = await readValues<string>(
    target.client,
    `select slug from tenants t where (t.id = $1 or t.slug = $2)
       and not exists (select from installation.tenant_cells c where c.tenant_id = t.id and c.role = 'target')`,
    [id, slug],
  );
  const sandboxes = await readValues<string>(
    source.client,
    `select c.code from sandboxes s join couriers c on c.tenant_id = s.tenant_id and c.id = s.courier_id
     where s.tenant_id = $1 and s.ended_at is null order by c.code`,
    [id],
  );
  const isSandbox = await readValue<boolean>(
    source.client,
    'select sandbox_of_tenant_id is not null from tenants where id = $1',
    [id],
  );
  const taken = 'select host from tenant_hosts where tenant_id <> $1 and host = any($2)';
  const hosts = await readValues<string>(target.client, taken, [id, own]);
  return [
    ...(isSandbox ? ['A sandbox stays in the cell of its tenant. End it instead.'] : []),
    ...sandboxes.map((code) => `The courier ${code} has a sandbox, which cannot move. End it first.`),
    ...slugs.map((each) => `The cell ${target.name} already has a tenant ${each}.`),
    ...hosts.map((host) => `The host ${host} belongs to another tenant in the cell ${target.name}.`),
  ];
}
