import type pg from 'pg';
import type { Rows } from '../statements.js';
import { readerOf, rememberReader, type RowReader } from './row-readers.js';
import { submitTogether, type Connection, type QueryConfig } from './submit.js';

/** `command` is what PostgreSQL executed, and `count` the number of rows that it has returned or written. */
export type StatementResult = { command: string; rows: Rows; count: number; fields: pg.FieldDef[] };

/**
 * Sends all statements at once, with one Sync message at the end. If no transaction is open, PostgreSQL runs them as one transaction:
 * it commits when all have succeeded, and rolls back otherwise. node-postgres would send a Sync after each statement. PostgreSQL
 * would then answer each by itself: one more write for it, and one more read of the socket for this process (decision 0045).
 *
 * @param results filled with the results. If a statement fails, it contains those of the statements before it.
 * @throws the error of the first statement that failed; PostgreSQL skips the rest
 */
export const runBatch = (
  client: pg.ClientBase,
  statements: readonly QueryConfig[],
  results: StatementResult[] = [],
): Promise<StatementResult[]> =>
  new Promise((resolve, reject) => {
    client.query(makeBatch(statements, results, { resolve, reject }));
  });

/** The methods that node-postgres calls with the messages of a response. Its types do not declare them. */
type MessageHandlers = {
  handleRowDescription(message: { fields: pg.FieldDef[] }): void;
  handleDataRow(message: { fields: (string | null)[] }): void;
  handleCommandComplete(message: { text: string }): void;
  handleEmptyQuery(): void;
  handleError(error: Error, connection: Connection): void;
  handleReadyForQuery(): void;
};

type Submittable = { submit(connection: pg.Connection): Error | null };

type Settle = { resolve(results: StatementResult[]): void; reject(error: unknown): void };

/** Not a query of node-postgres per statement: each has an event emitter, a result and a list of parsers of its own. */
function makeBatch(
  statements: readonly QueryConfig[],
  results: StatementResult[],
  { resolve, reject }: Settle,
): Submittable & MessageHandlers & { name: string | undefined; text: string | undefined } {
  let current = 0;
  let rows: Rows = [];
  let reader: RowReader | undefined;
  let connection: Connection;
  let unreadable: { error: unknown } | undefined;
  let submitted: ReadonlySet<string> = new Set();

  const readerOfCurrent = (): RowReader | undefined => {
    const name = statements[current]?.name;
    return reader ?? (name === undefined ? undefined : readerOf(connection, name));
  };

  return {
    // By these two, node-postgres remembers that the current statement is prepared.
    get name() {
      return statements[current]?.name;
    },
    get text() {
      return statements[current]?.text;
    },
    submit(on) {
      // node-postgres has the lists of prepared statements that its types do not declare.
      connection = on as Connection;
      try {
        submitted = submitTogether(connection, statements);
        return null;
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      }
    },
    handleRowDescription({ fields }) {
      const statement = statements[current];
      if (!statement) throw new Error('PostgreSQL responded to more statements than were sent.');
      reader = rememberReader(connection, statement, fields);
    },
    handleDataRow({ fields }) {
      try {
        reader ??= readerOfCurrent();
        if (reader) rows.push(reader.parseRow(fields));
      } catch (error) {
        unreadable ??= { error };
      }
    },
    handleCommandComplete({ text }) {
      const [, command = '', first, second] = COMMAND.exec(text) ?? [];
      const fields = readerOfCurrent()?.fields ?? [];
      results.push({ command, rows, count: Number(second ?? first ?? 0), fields });
      const statement = statements[current];
      if (statement && !readerOfCurrent()) rememberReader(connection, statement, []);
      rows = [];
      reader = undefined;
      current += 1;
    },
    handleEmptyQuery() {
      results.push({ command: '', rows: [], count: 0, fields: [] });
      current += 1;
    },
    handleError(error) {
      for (const name of submitted) delete connection.submittedNamedStatements[name];
      reject(error);
    },
    handleReadyForQuery() {
      if (unreadable) reject(unreadable.error);
      else resolve(results);
    },
  };
}

/** The tag of a command: its first word, and the number of rows, which an insert has after an object id. */
const COMMAND = /^([A-Za-z]+)(?: (\d+))?(?: (\d+))?/;
