import type pg from 'pg';

/** Objects are for columns of JSON. */
export type Row = Readonly<Record<string, string | number | boolean | null | object>>;

/** Inserts rows with the same columns in one statement. Columns that are missing in the first row get their default. */
export async function insertRows(client: pg.ClientBase, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  await client.query(
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1)`,
    [JSON.stringify(rows)],
  );
}
