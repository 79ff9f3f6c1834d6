import { Socket } from 'node:net';
import type pg from 'pg';
import { readRow } from './rows.js';
import { END_STALE_SESSION } from './stale-sessions.js';

// How a pool leaves a server that is gone or that is no longer the primary. See decision 0059.

/** SQLSTATE of a write on a server that does not accept writes. */
const READ_ONLY = '25006';

/** Added to a statement's own limit. A server that is silent for longer is gone. */
const SILENCE_MS = 5_000;

/** After this time a session that began as read-only is replaced, because the setting may have been reset since. */
const READ_ONLY_SESSION_MS = 1_000;

/** A server that does not accept writes: a primary with default_transaction_read_only, or that and a standby. */
export type ReadOnlyServer = 'primary' | 'standby';

/** Sessions that began with default_transaction_read_only, which a session keeps, or on a standby, and when they began. */
const readOnlySince = new WeakMap<pg.ClientBase, number>();

/** Whether the session began as read-only. */
export const isReadOnlySession = (client: pg.ClientBase): boolean => readOnlySince.has(client);

/** Whether it began as read-only so long ago that a new one may be able to write. */
export const isOutdatedSession = (client: pg.ClientBase): boolean =>
  performance.now() - (readOnlySince.get(client) ?? Infinity) > READ_ONLY_SESSION_MS;

/**
 * Refuses a new connection to a server that does not accept writes: a standby, or a primary that came back as one. Its rows may
 * be old, so it would accept sessions and keys that have ended. A primary with default_transaction_read_only has current rows: with
 * `accepts` it is kept for reads, and with 'standby' a standby is kept too, for monitoring. libpq has target_session_attrs=read-write for this, which node-postgres does not know.
 *
 * For the pool's `onConnect`. Its option `verify` loses the connection if the request stops waiting during the check (pg-pool 3.14).
 *
 * @throws Error when the server is read-only, breaks the connection, or is silent for `limitMs`
 */
export async function refuseReadOnly(
  client: pg.PoolClient,
  limitMs: number,
  accepts: ReadOnlyServer | undefined,
): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), limitMs);
  try {
    const server = await readRow<{ is_standby: boolean; is_read_only: boolean }>(
      client,
      `select pg_is_in_recovery() as is_standby, current_setting('default_transaction_read_only')::boolean as is_read_only,
         ${END_STALE_SESSION}`,
    );
    const isRefused = server.is_standby ? accepts !== 'standby' : server.is_read_only && !accepts;
    if (isRefused) throw readOnlyError();
    if (server.is_standby || server.is_read_only) readOnlySince.set(client, performance.now());
  } finally {
    clearTimeout(timer);
  }
}

const readOnlyError = (): Error =>
  Object.assign(new Error('The database server does not accept writes.'), { code: READ_ONLY });

type Options = { isPipelined: boolean; statementTimeoutMs: number };

/** Closes the connections of a pool whose server has become read-only, and those whose server has been silent for too long. */
export function leaveLostServers(pool: pg.Pool, { isPipelined, statementTimeoutMs }: Options): void {
  const demoted = new Set<pg.PoolClient>();
  pool.on('connect', (client) => {
    const { connection } = client;
    connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === READ_ONLY) demoted.add(client);
    });
    connection.stream.on('timeout', () => {
      // A connection of graphile-worker that listens is silent for as long as there is no job.
      if (isPipelined || isBusy(client)) connection.stream.destroy();
    });
  });
  pool.on('acquire', (client) => limitSilence(client, statementTimeoutMs));
  pool.on('release', (_error, client) => {
    setSilence(client, 0);
    // The pool keeps no connection that is ending.
    if (demoted.delete(client) || isOutdatedSession(client)) client.end().catch(() => undefined);
  });
}

/**
 * Sets how long the server may be silent until the client is released. Without a limit, a request to a machine that lost its power
 * waits for a quarter of an hour, because Node cannot set TCP_USER_TIMEOUT.
 */
export const limitSilence = (client: pg.PoolClient, statementTimeoutMs: number): void =>
  setSilence(client, statementTimeoutMs + SILENCE_MS);

function setSilence({ connection: { stream } }: pg.PoolClient, limitMs: number): void {
  if (stream instanceof Socket) stream.setTimeout(limitMs);
}

/** node-postgres has this property, and does not declare it in its types. Pipelined clients are always ready for more. */
const isBusy = (client: pg.PoolClient): boolean => Reflect.get(client, 'readyForQuery') === false;
