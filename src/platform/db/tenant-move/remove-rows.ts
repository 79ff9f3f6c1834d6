import { readValue } from '../connections/rows.js';
import type { OwnedCell } from './cell-state.js';

const ROWS_PER_BATCH = 10_000;

/**
 * Removes the tenant from a cell that does not serve it. Triggers and foreign keys do not apply, because all of its rows go.
 * Each batch is a transaction.
 *
 * @param tables those that contain the tenant's rows
 * @throws Error if the cell serves the tenant, or if the rows are still published to the other cell, which would lose them too
 */
export async function removeRows(cell: OwnedCell, tenantId: string, tables: string[]): Promise<number> {
  const { client } = cell;
  await assertRemovable(cell, tenantId);
  await client.query('set session_replication_role = replica');
  try {
    let removed = 0;
    for (const table of tables) removed += await removeRowsOf(cell, tenantId, table);
    await client.query('delete from installation.tenant_markers where tenant_id = $1', [tenantId]);
    await client.query('delete from tenants where id = $1', [tenantId]);
    return removed;
  } finally {
    await client.query('reset session_replication_role');
  }
}

async function assertRemovable({ name, client }: OwnedCell, tenantId: string): Promise<void> {
  const isRemovable = await readValue<boolean>(
    client,
    `select exists (select from installation.tenant_cells where tenant_id = $1 and state in ('moved', 'arriving'))
       and not exists (select from pg_publication where pubname like '%' || replace($1::text, '-', ''))`,
    [tenantId],
  );
  if (!isRemovable) throw new Error(`The cell ${name} serves or publishes the tenant, so its rows stay.`);
}

async function removeRowsOf({ client }: OwnedCell, tenantId: string, table: string): Promise<number> {
  let removed = 0;
  for (;;) {
    const { rowCount } = await client.query(
      `delete from ${table} where tenant_id = $1 and ctid = any(array(
         select ctid from ${table} where tenant_id = $1 limit ${ROWS_PER_BATCH}))`,
      [tenantId],
    );
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < ROWS_PER_BATCH) return removed;
  }
}
