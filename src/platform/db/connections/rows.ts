/** A connection or a pool. */
export type Queryable = {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
};

/** Returns the rows of a statement outside of the transactions of requests. Its author states what it selects. */
export async function readRows<Row>(client: Queryable, text: string, values?: unknown[]): Promise<Row[]> {
  const { rows } = await client.query(text, values);
  return rows as Row[];
}

/** Returns the row of a statement that always selects one. @throws Error if there is none */
export async function readRow<Row>(client: Queryable, text: string, values?: unknown[]): Promise<Row> {
  const [row] = await readRows<Row>(client, text, values);
  if (!row) throw new Error('The statement returned no row.');
  return row;
}

/** Returns the values of a statement that selects one column. */
export async function readValues<Value>(
  client: Queryable,
  text: string,
  values?: unknown[],
): Promise<Value[]> {
  const rows = await readRows<Record<string, Value>>(client, text, values);
  return rows.flatMap((row) => Object.values(row));
}

/** Returns the value of a statement that selects one column of one row. */
export async function readValue<Value>(client: Queryable, text: string, values?: unknown[]): Promise<Value> {
  const [value] = Object.values(await readRow<Record<string, Value>>(client, text, values));
  // The statement selects one column.
  return value as Value;
}

/** Whether the database has a table, which its migrations may not have made yet. */
export const hasTable = (client: Queryable, name: string): Promise<boolean> =>
  readValue(client, 'select to_regclass($1) is not null', [name]);
