import { hasTable, readRow, readRows, readValues, type Queryable } from '../connections/rows.js';

/** A tenant between two cells, in this cell. */
export type OpenMove = { id: string; state: string; cell: string; since: Date };

/** Returns the cells to which tenants of this one have moved. Every server needs them. */
export const readCellsOfMoved = (client: Queryable): Promise<string[]> =>
  readValues(
    client,
    `select distinct other_cell from installation.tenant_cells
     where role = 'source' and state in ('moved', 'gone') order by 1`,
  );

/**
 * Returns the cell that serves a tenant of this one, or that has the tenants which left it if this one has no such tenant. Undefined if this
 * cell serves it.
 */
export async function findCellOf(client: Queryable, slug: string): Promise<string | undefined> {
  const { cell } = await readRow<{ cell: string | null }>(
    client,
    `select case when t.id is null then (select string_agg(distinct other_cell, ' or ') from installation.tenant_cells where state = 'gone')
       when c.state not in ('active', 'moving') then c.other_cell end as cell
     from (select) as one left join tenants t on t.slug = $1 left join installation.tenant_cells c on c.tenant_id = t.id`,
    [slug],
  );
  return cell ?? undefined;
}

/** Returns the tenants whose moves have not ended. A database that lacks the table has none. */
export async function readOpenMoves(client: Queryable): Promise<OpenMove[]> {
  if (!(await hasTable(client, 'installation.tenant_cells'))) return [];
  return readRows(
    client,
    `select tenant_id as id, state, other_cell as cell, changed_at as since from installation.tenant_cells
     where state <> 'gone' order by 1`,
  );
}
