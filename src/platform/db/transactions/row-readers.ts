import pg from 'pg';

type Row = Record<string, unknown>;

/** What a statement says of its name and of the form of its rows. */
type Described = Pick<pg.QueryArrayConfig, 'types'> & { name?: string; rowMode?: 'array' | undefined };

/** Makes rows of the messages of one statement: a result of node-postgres, whose types do not declare these methods. */
export type RowReader = Pick<pg.QueryResult, 'fields'> & {
  addFields(fields: pg.FieldDef[]): void;
  parseRow(values: (string | null)[]): Row;
};

/**
 * The readers of a connection's prepared statements, by name. PostgreSQL refuses to execute a prepared statement whose columns have
 * changed ("cached plan must not change result type"), so a description holds as long as the connection.
 */
const readers = new WeakMap<pg.Connection, Map<string, RowReader>>();

/** Returns the reader of a prepared statement that PostgreSQL has described before. Such a statement needs no Describe message. */
export const readerOf = (connection: pg.Connection, name: string): RowReader | undefined =>
  readers.get(connection)?.get(name);

/** Makes the reader of a statement's rows, and keeps it if the statement is prepared. */
export function rememberReader(
  connection: pg.Connection,
  { name, rowMode, types }: Described,
  fields: pg.FieldDef[],
): RowReader {
  // Without types of the query, the constructor takes those of pg.types. Its own types declare neither case.
  const reader = new pg.Result(rowMode as string, types as typeof pg.types) as unknown as RowReader;
  reader.addFields(fields);
  if (name === undefined) return reader;
  const known = readers.get(connection) ?? new Map<string, RowReader>();
  readers.set(connection, known.set(name, reader));
  return reader;
}
