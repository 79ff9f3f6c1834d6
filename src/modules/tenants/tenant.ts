import type pg from 'pg';
import { ONE_TIME_PASSWORD_DAYS, validatePassword, openPasswords } from '../auth/public.js';
import { violates } from '../../platform/db/violations.js';
import { newId } from '../../platform/values/ids.js';
import { describeProblem } from '../../platform/errors/errors.js';

export type NewTenant = {
  slug: string;
  name: string;
  /** The host names of the tenant, in lower case. `*` matches every host without another tenant. */
  hosts: string[];
  /** The name of its first, primary warehouse. */
  warehouse: string;
  admin: { username: string; fullName: string; password: string };
};

/** Returns true if the password is allowed for an administrator with these names, otherwise the problem. */
export async function checkPassword(password: string, names: string[] = []): Promise<true | string> {
  const problem = await validatePassword(password, names);
  return problem ? describeProblem('The password', ...problem).message : true;
}

/**
 * Creates a tenant with its hosts, its primary warehouse and its first administrator in one transaction.
 * The administrator must change the password at the first login, within ONE_TIME_PASSWORD_DAYS: it was printed, or typed by somebody else.
 *
 * @param client connected as the owner of the schema
 * @throws Error with one line of text if the slug or a host is already in use
 */
export async function createTenant(
  client: pg.ClientBase,
  tenant: NewTenant,
  { passwordHashCost }: { passwordHashCost: number },
): Promise<{ tenantId: string }> {
  const passwordHash = await openPasswords(passwordHashCost).hash(tenant.admin.password);
  const tenantId = newId();
  await client.query('begin');
  try {
    await insertTenant(client, tenantId, tenant);
    await enterTenant(client, tenantId);
    await insertFirstRecords(client, tenantId, tenant, passwordHash);
    await client.query('commit');
    return { tenantId };
  } catch (error) {
    await client.query('rollback');
    throw translateError(error, tenant);
  }
}

/** Opens the rows of a tenant until the transaction ends: row-level security applies to the owner of the tables too. */
export const enterTenant = (client: pg.ClientBase, tenantId: string) =>
  client.query("select set_config('app.tenant_id', $1, true), set_config('app.courier_id', 'all', true)", [
    tenantId,
  ]);

/**
 * @param client connected as the owner of the schema of another cell
 * @throws Error with one line of text if that cell has the slug or one of the hosts
 */
export async function assertUnusedIn(
  { name, client }: { name: string; client: pg.ClientBase },
  { slug, hosts }: Pick<NewTenant, 'slug' | 'hosts'>,
): Promise<void> {
  const { rows } = await client.query<{ host: string | null }>(
    `select null as host from tenants where slug = $1
     union all select host from tenant_hosts where host = any($2) order by host nulls first limit 1`,
    [slug, hosts],
  );
  const [taken] = rows;
  if (!taken) return;
  if (taken.host === null) throw new Error(`The cell ${name} has a tenant ${slug}.`);
  throw new Error(`The host ${taken.host} belongs to a tenant of the cell ${name}.`);
}

async function insertTenant(client: pg.ClientBase, tenantId: string, { slug, name, hosts }: NewTenant) {
  await client.query('insert into tenants (id, slug, name) values ($1, $2, $3)', [tenantId, slug, name]);
  await client.query('insert into tenant_hosts (tenant_id, host) select $1, unnest($2::text[])', [
    tenantId,
    [...new Set(hosts)],
  ]);
}

async function insertFirstRecords(
  client: pg.ClientBase,
  tenantId: string,
  { slug, name, hosts, warehouse, admin }: NewTenant,
  passwordHash: string,
): Promise<void> {
  await client.query('insert into warehouses (tenant_id, id, name, is_primary) values ($1, $2, $3, true)', [
    tenantId,
    newId(),
    warehouse,
  ]);
  await client.query(
    `insert into users (tenant_id, id, username, full_name, role, password_hash, must_change_password, password_expires_at)
     values ($1, $2, $3, $4, 'admin', $5, true, now() + make_interval(days => $6))`,
    [tenantId, newId(), admin.username.toLowerCase(), admin.fullName, passwordHash, ONE_TIME_PASSWORD_DAYS],
  );
  await client.query(
    `insert into audit_entries (tenant_id, id, actor_kind, action, entity, entity_id, after, request_id)
     values ($1, $2, 'system', 'tenant.created', 'tenant', $1, $3, 'tenant:create')`,
    [tenantId, newId(), JSON.stringify({ slug, name, hosts })],
  );
}

/** Only the operator who runs the script reads this message, so it may name another tenant's host. */
function translateError(error: unknown, { slug, hosts }: NewTenant): unknown {
  if (violates(error, 'tenants_slug_key')) return new Error(`The slug ${slug} is taken.`);
  if (!violates(error, 'tenant_hosts_host_key')) return error;
  // violates() returns true only for errors of pg. Its detail reads: Key (host)=(a.example.com) already exists. PostgreSQL leaves it out
  // for an owner to whom row-level security applies.
  const host = /=\((.*)\)/.exec((error as pg.DatabaseError).detail ?? '')?.[1] ?? hosts.join(' or ');
  return new Error(`The host ${host} belongs to another tenant.`);
}
