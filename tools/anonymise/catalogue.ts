import pg from 'pg';
import { COLUMNS } from './columns.js';

export type Column = { name: string; quoted: string; type: string };

/** Returns the columns of a table, and whether its policies apply to its owner. */
export async function describeTable(
  client: pg.ClientBase,
  table: string,
): Promise<{ columns: Column[]; isForced: boolean }> {
  const { rows } = await client.query<{ name: string; type: string; forced: boolean }>(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, c.relforcerowsecurity as forced
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     order by a.attnum`,
    [table],
  );
  return {
    columns: rows.map(({ name, type }) => ({ name, type, quoted: pg.escapeIdentifier(name) })),
    isForced: rows[0]?.forced ?? false,
  };
}

/** The statement that creates an index or constraint again. */
export type Definition = { create: string };

/**
 * Drops the indexes of a table, except those of constraints on other columns, to which foreign keys refer. Returns what
 * creates them again.
 */
export async function takeIndexes(
  client: pg.ClientBase,
  table: string,
  columns: string[],
): Promise<Definition[]> {
  const { rows } = await client.query<{ drop: string; create: string }>(
    `select case when con.oid is null then format('drop index %s', i.indexrelid::regclass)
         else format('alter table %s drop constraint %I', i.indrelid::regclass, con.conname) end as drop,
       case when con.oid is null then pg_get_indexdef(i.indexrelid)
         else format('alter table %s add constraint %I %s', i.indrelid::regclass, con.conname,
           pg_get_constraintdef(con.oid)) end as create
     from pg_index i left join pg_constraint con on con.conindid = i.indexrelid and con.contype in ('p', 'u', 'x')
     where i.indrelid = $1::regclass and (con.oid is null or exists (
       select from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (con.conkey) and a.attname = any ($2)))`,
    [table, columns],
  );
  for (const { drop } of rows) await client.query(drop);
  return rows;
}

export async function rebuildIndexes(
  client: pg.ClientBase,
  table: string,
  definitions: Definition[],
): Promise<void> {
  for (const { create } of definitions) await client.query(create);
  await client.query(`analyze ${table}`);
}

/** Returns the columns of the database without a decision, and the decisions without a column: `schema.table.column`. */
export async function findUndecided(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%s.%s.%s', n.nspname, c.relname, a.attname) as name
     from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'm') and a.attnum > 0 and not a.attisdropped
       and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'`,
  );
  const stored = new Set(rows.map(({ name }) => name));
  const decided = new Set(
    Object.entries(COLUMNS).flatMap(([table, columns]) =>
      Object.keys(columns).map((column) => `${table}.${column}`),
    ),
  );
  const undecided = [...stored].filter((name) => !decided.has(name));
  const missing = [...decided].filter((name) => !stored.has(name));
  return [...undecided, ...missing].sort();
}
