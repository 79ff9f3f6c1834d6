import type pg from 'pg';

/** Enters the scope of a tenant until the end of the transaction, which the owner of the schema needs as well. */
export async function enterTenant(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query(
    "select set_config('app.tenant_id', $1, true), set_config('app.courier_id', 'all', true)",
    [tenantId],
  );
}
