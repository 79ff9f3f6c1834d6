import type pg from 'pg';

/** A tenant between two cells, in this cell. */
export type OpenMove = { id: string; state: string; cell: string; since: Date };

/** Returns the tenants whose moves have not ended. A database that lacks the table has none. */
export async function readOpenMoves(client: pg.ClientBase): Promise<OpenMove[]> {
  const { rows: tables } = await client.query<{ name: string | null }>(
    "select to_regclass('installation.tenant_cells') as name",
  );
  if (!tables[0]?.name) return [];
  const { rows } = await client.query<OpenMove>(
    `select tenant_id as id, state, other_cell as cell, changed_at as since from installation.tenant_cells
     where state <> 'gone' order by 1`,
  );
  return rows;
}
