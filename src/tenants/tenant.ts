import type pg from 'pg';
import { hashPassword } from '../auth/passwords.js';
import { newId } from '../ids.js';

export type NewTenant = {
  slug: string;
  name: string;
  /** Lower-case host names it answers on. */
  hosts: string[];
  /** Name of its first, primary warehouse. */
  warehouse: string;
  admin: { username: string; fullName: string; password: string };
};

/**
 * Registers a warehouse operator with its hosts, its primary warehouse and its first administrator, all or
 * nothing.
 *
 * @param client connected as the owner of the schema
 * @throws when the slug or a host is taken
 */
export async function createTenant(client: pg.ClientBase, tenant: NewTenant): Promise<{ tenantId: string }> {
  const passwordHash = await hashPassword(tenant.admin.password);
  const tenantId = newId();
  const adminId = newId();
  await client.query('begin');
  try {
    await client.query('insert into tenants (id, slug, name) values ($1, $2, $3)', [tenantId, tenant.slug, tenant.name]);
    await client.query('insert into tenant_hosts (tenant_id, host) select $1, unnest($2::text[])', [tenantId, tenant.hosts]);
    // row security is forced on the owner too
    await client.query("select set_config('app.tenant_id', $1, true), set_config('app.courier_id', 'all', true)", [tenantId]);
    await client.query('insert into warehouses (tenant_id, id, name, is_primary) values ($1, $2, $3, true)', [
      tenantId,
      newId(),
      tenant.warehouse,
    ]);
    await client.query(
      "insert into users (tenant_id, id, username, full_name, role, password_hash) values ($1, $2, $3, $4, 'admin', $5)",
      [tenantId, adminId, tenant.admin.username.toLowerCase(), tenant.admin.fullName, passwordHash],
    );
    await client.query(
      `insert into audit_entries (tenant_id, id, actor_kind, action, entity, entity_id, after, request_id)
       values ($1, $2, 'system', 'tenant.created', 'tenant', $1, $3, 'tenant:create')`,
      [tenantId, newId(), JSON.stringify({ slug: tenant.slug, name: tenant.name, hosts: tenant.hosts })],
    );
    await client.query('commit');
    return { tenantId };
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}
