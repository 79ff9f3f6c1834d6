import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isPooledSession } from './pooler.js';
import { readRow } from './rows.js';
import { DATABASE, SERVER } from './server-identity.js';

/**
 * A position in the WAL of a primary, and its server and timeline: a position means nothing on another timeline. `database` tells the
 * database, and the deployments that use it.
 */
export type WalPosition = { server: string; position: string; database: string };

/**
 * The SQL expressions of a position, on a primary. It is the position after every transaction that has been committed: that of the next
 * record, because with synchronous_commit = off a commit is acknowledged before it is written.
 */
export const POSITION = `${SERVER} as server, pg_current_wal_insert_lsn()::text as position, ${DATABASE} as database`;

/** The name of the error if the replica has not replayed a position in time. */
const BEHIND = 'ReplicaBehind';

export const isBehind = (error: unknown): boolean => error instanceof Error && error.name === BEHIND;

const POLL_MS = 5;

type Standing = {
  is_standby: boolean;
  has_replayed: boolean;
  server: string | null;
  database: string;
  pid: number;
};

/**
 * Waits until the server of the connection has replayed the position. Statements that begin later on the same connection see
 * every transaction that was committed before the position was read.
 *
 * A promoted standby, and one of another timeline, may have reached the same number with other rows. The row of the server
 * that workers record, which the standby has replayed too, tells them apart. The database and its deployments tell another
 * database of the server, and a copy that has become another deployment.
 *
 * @throws Error named BEHIND after `maxMs`; Error if the server is no standby of the primary, or it is another database
 */
export async function awaitReplay(
  client: pg.PoolClient,
  { server, position, database }: WalPosition,
  maxMs: number,
): Promise<void> {
  const deadlineMs = performance.now() + maxMs;
  for (;;) {
    const found = await readStanding(client, position);
    if (!found.is_standby) throw new Error('The server of DATABASE_REPLICA_URL is not a standby.');
    // Behind a pooler, the next statements may run on another standby.
    if (isPooledSession(client, found.pid))
      throw new Error('DATABASE_REPLICA_URL leads to a connection pooler: set it to the standby itself.');
    if (found.has_replayed && found.server === server) {
      if (found.database !== database)
        throw new Error('DATABASE_REPLICA_URL leads to another database than DATABASE_URL.');
      return;
    }
    if (performance.now() >= deadlineMs) throw behind(found, server);
    await sleep(POLL_MS);
  }
}

const readStanding = (client: pg.PoolClient, position: string): Promise<Standing> =>
  readRow(
    client,
    `select pg_is_in_recovery() as is_standby, pg_backend_pid() as pid,
       coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as has_replayed,
       (select server from installation.outbound) as server, ${DATABASE} as database`,
    [position],
  );

function behind(found: Standing, server: string): Error {
  const reason = found.has_replayed
    ? `It follows the server and timeline ${found.server}, and the primary is ${server}.`
    : 'It has not replayed the last transactions in time.';
  return Object.assign(new Error(`The replica is behind. ${reason}`), { name: BEHIND });
}

/** Returns the age of the last transaction that a standby has replayed. Without writes it grows. */
export async function readReplayDelay(pool: pg.Pool): Promise<number | undefined> {
  const { seconds } = await readRow<{ seconds: number | null }>(
    pool,
    'select extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float as seconds',
  );
  return seconds ?? undefined;
}
