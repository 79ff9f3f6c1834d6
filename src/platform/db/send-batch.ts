import pg from 'pg';
import type { QueryConfig } from './admission.js';
import type { Rows } from './statements.js';

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

/**
 * Sends statements in one write with one Sync message. PostgreSQL runs them as one transaction: it commits when all have
 * succeeded and rolls back otherwise. A Sync per statement costs PostgreSQL a write and this process a read of the socket
 * for each of them (decision 0045). Returns the rows of each statement.
 *
 * @throws the error of the first statement that failed; PostgreSQL skips the rest
 */
export const sendBatch = (client: pg.ClientBase, statements: readonly QueryConfig[]): Promise<Rows[]> =>
  new Promise((resolve, reject) => {
    const results: Rows[] = [];
    const queries = statements.map((statement) =>
      makeQuery(statement, (error, rows) => (error ? reject(error) : results.push(rows))),
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

/** A query of node-postgres. Its protocol mode is `extended`, because a simple query has a Sync of its own. */
function makeQuery(
  statement: QueryConfig,
  settle: (error: Error | undefined, rows: Rows) => void,
): pg.Query & MessageHandlers {
  const config = { ...statement, queryMode: 'extended' };
  const query = new pg.Query<Rows[number]>(config, (error, result) =>
    settle(error, error ? [] : result.rows),
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
