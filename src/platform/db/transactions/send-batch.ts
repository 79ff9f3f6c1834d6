import pg from 'pg';
import type { Rows } from '../statements.js';

/** A query of node-postgres. A named one is prepared. Prisma's models ask for rows as arrays, and parse the values. */
export type QueryConfig = Pick<pg.QueryArrayConfig, 'types'> & {
  text: string;
  values: unknown[];
  name?: string;
  rowMode?: 'array' | undefined;
};

/** The methods that node-postgres calls with the messages of a response. Its types do not declare them. */
type MessageHandlers = {
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleEmptyQuery(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
};

/** `submittedNamedStatements` are the statements whose preparation PostgreSQL has not confirmed yet. */
type Connection = pg.Connection & { submittedNamedStatements: Record<string, string> };

/** `command` is what PostgreSQL executed, and `count` the number of rows that it has returned or written. */
export type StatementResult = { command: string; rows: Rows; count: number; fields: pg.FieldDef[] };

/**
 * Sends statements in one write with one Sync message. Without an open transaction, PostgreSQL runs them as one transaction:
 * it commits when all have succeeded and rolls back otherwise. A Sync per statement costs PostgreSQL a write and this process
 * a read of the socket for each of them (decision 0045).
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
    const queries = statements.map((statement) =>
      makeQuery(statement, (error, result) => (error ? reject(error) : results.push(result))),
    );
    let current = 0;
    const currentQuery = () => {
      const query = queries[current];
      if (!query) throw new Error('PostgreSQL responded to more statements than were sent.');
      return query;
    };
    const batch: pg.Submittable & MessageHandlers & { name: string | undefined; text: string | undefined } = {
      // By these two, node-postgres remembers that the current statement is prepared.
      get name() {
        return statements[current]?.name;
      },
      get text() {
        return statements[current]?.text;
      },
      submit: (connection) => submitTogether(connection, queries),
      handleRowDescription: (message) => currentQuery().handleRowDescription(message),
      handleDataRow: (message) => currentQuery().handleDataRow(message),
      handleCommandComplete(message, connection) {
        currentQuery().handleCommandComplete(message, connection);
        current += 1;
      },
      handleEmptyQuery: (connection) => currentQuery().handleEmptyQuery(connection),
      handleError(error, connection) {
        for (const query of queries.slice(0, current)) query.handleReadyForQuery(connection);
        for (const { name } of statements.slice(current)) {
          if (name) delete connection.submittedNamedStatements[name];
        }
        reject(error);
      },
      handleReadyForQuery(connection) {
        for (const query of queries) query.handleReadyForQuery(connection);
        resolve(results);
      },
    };
    client.query(batch);
  });

const toResult = ({ command, rows, rowCount, fields }: pg.QueryResult<Rows[number]>): StatementResult => ({
  command,
  rows,
  count: rowCount ?? 0,
  fields,
});

const NO_RESULT: StatementResult = { command: '', rows: [], count: 0, fields: [] };

/** A query of node-postgres. Its protocol mode is `extended`, because a simple query has a Sync of its own. */
function makeQuery(
  statement: QueryConfig,
  settle: (error: Error | undefined, result: StatementResult) => void,
): pg.Query & MessageHandlers {
  const config = { ...statement, queryMode: 'extended' };
  const query = new pg.Query<Rows[number]>(config, (error, result) =>
    settle(error, error ? NO_RESULT : toResult(result)),
  );
  // Every query of node-postgres has these methods.
  return query as pg.Query & MessageHandlers;
}

/** Writes the messages of all queries at once: one buffer costs less than a list of thirty. */
function submitTogether(connection: pg.Connection, queries: pg.Query[]): void {
  const messages: Buffer[] = [];
  const stream = { writable: true, write: (message: Buffer) => messages.push(message) };
  // Inherits everything else, for example the names of the prepared statements.
  const recorder = Object.create(connection, {
    stream: { value: stream },
    sync: { value: () => undefined },
  }) as pg.Connection;
  for (const query of queries) query.submit(recorder);
  const sync = Object.create(connection, { stream: { value: stream } }) as pg.Connection;
  sync.sync();
  connection.stream.write(Buffer.concat(messages));
}
