import type pg from 'pg';

/**
 * Returns the tables that contain rows of tenants, from the catalogue, so that no new table is forgotten. The table of tenants
 * itself is not one of them.
 *
 * @throws Error for a table whose updates and deletes cannot be replicated for one tenant
 */
export async function listTenantTables(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ table: string; is_filterable: boolean }>(
    `select format('%I.%I', n.nspname, t.relname) as table,
       exists (select from pg_index i
         where i.indrelid = t.oid and a.attnum = any(i.indkey::int2[])
           and case t.relreplident when 'd' then i.indisprimary when 'i' then i.indisreplident else false end)
       or t.relreplident = 'f' as is_filterable
     from pg_class t
     join pg_namespace n on n.oid = t.relnamespace and n.nspname = 'public'
     join pg_attribute a on a.attrelid = t.oid and a.attname = 'tenant_id' and not a.attisdropped
     where t.relkind in ('r', 'p') and not t.relispartition
     order by 1`,
  );
  const others = rows.filter((row) => !row.is_filterable).map(({ table }) => table);
  if (others.length > 0)
    throw new Error(
      `The primary key of ${others.join(', ')} must contain tenant_id, or its updates cannot be replicated.`,
    );
  return rows.map(({ table }) => table);
}

/** The marker of a move is replicated beside the rows of the tenant. */
export const MARKERS = 'installation.tenant_markers';
