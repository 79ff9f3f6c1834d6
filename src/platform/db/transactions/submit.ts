import type pg from 'pg';
import utils from 'pg/lib/utils.js';
import { readerOf } from './row-readers.js';

/** A query of node-postgres. A named one is prepared. Prisma's models ask for rows as arrays, and parse the values. */
export type QueryConfig = Pick<pg.QueryArrayConfig, 'types'> & {
  text: string;
  values: unknown[];
  name?: string;
  rowMode?: 'array' | undefined;
};

/** `submittedNamedStatements` are the statements whose preparation PostgreSQL has not confirmed yet, with their texts. */
export type Connection = pg.Connection & {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
};

/** `prepareValue` takes any value. The declared type is that of its results. */
type Values = (string | null)[];

const PORTAL: pg.MessageConfig = { type: 'P' };

/**
 * Writes the messages of all statements and one Sync. One buffer, because a write costs more than a statement.
 *
 * @returns the names of the statements that it prepares
 * @throws Error without having sent anything, if a value cannot be sent or a name is that of another text
 */
export function submitTogether(
  connection: Connection,
  statements: readonly QueryConfig[],
): ReadonlySet<string> {
  const messages: Buffer[] = [];
  const prepared = new Map<string, string>();
  const stream = { writable: true, write: (message: Buffer) => messages.push(message) };
  const isDescribed = (name: string) => readerOf(connection, name) !== undefined;
  // Inherits everything else, for example the names of the prepared statements.
  const recorder = Object.create(connection, { stream: { value: stream } }) as Connection;
  for (const statement of statements) record(recorder, statement, prepared, isDescribed);
  recorder.sync();
  for (const [name, text] of prepared) connection.submittedNamedStatements[name] = text;
  connection.stream.write(Buffer.concat(messages));
  return new Set(prepared.keys());
}

/** Records Parse unless the statement is prepared, Bind, Describe unless its columns are known, and Execute. */
function record(
  connection: Connection,
  { text, values, name = '' }: QueryConfig,
  prepared: Map<string, string>,
  isDescribed: (name: string) => boolean,
): void {
  const known =
    connection.parsedStatements[name] ?? connection.submittedNamedStatements[name] ?? prepared.get(name);
  if (name !== '' && known !== undefined && known !== text)
    throw new Error(`The prepared statement ${name} has another text.`);
  if (name === '' || known === undefined) connection.parse({ name, text, types: [] }, true);
  if (name !== '' && known === undefined) prepared.set(name, text);
  connection.bind({ statement: name, values: values as Values, valueMapper: utils.prepareValue }, true);
  if (name === '' || !isDescribed(name)) connection.describe(PORTAL, true);
  connection.execute(null, true);
}
