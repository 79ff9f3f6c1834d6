import pg from 'pg';
import { leaveLostServers, refuseReadOnly, type ReadOnlyServer } from './lost-servers.js';

const { Pool, types } = pg;

// Dates stay text, because a Date would depend on the process's time zone.
types.setTypeParser(types.builtins.DATE, (value) => value);

export type PoolOptions = {
  url: string;
  size: number;
  /** The role to switch to on connect, for a login with too many privileges (development, tests). */
  assumeRole?: string;
  /** Called when an idle connection breaks. */
  onError(error: Error): void;
  /** Set to false for graphile-worker, which waits for each result anyway and uses LISTEN. */
  isPipelined?: boolean;
  /** Behind a pooler each transaction may get another session: no session settings and no prepared statements. */
  isBehindPooler?: boolean;
  /** The statement timeout, if it differs from STATEMENT_TIMEOUT_MS. */
  statementTimeoutMs?: number;
  /** Set to true to use a server that does not accept writes, as a replica. Other pools refuse it. */
  acceptsReadOnly?: boolean;
  /** Set to true to go on reading from a primary with default_transaction_read_only. Writes then fail with 503. */
  readsWhileReadOnly?: boolean;
  /** Set to true to go on reading from a standby too, for monitoring: its rows may be old. */
  readsFromStandby?: boolean;
};

/** The options that all pools of a process share. */
export type Connection = Pick<PoolOptions, 'url' | 'assumeRole' | 'onError' | 'isBehindPooler'>;

/** How long a request waits for a connection before it is rejected with 503. */
const CONNECT_TIMEOUT_MS = 2_000;

/** Longer than any request's own limit. It ends abandoned statements, which would otherwise keep their locks. */
export const STATEMENT_TIMEOUT_MS = 15_000;

/** node-postgres would close connections after ten idle seconds, and a new one plans every prepared statement again (decision 0056). */
const IDLE_TIMEOUT_MS = 5 * 60_000;

/** Bounds the memory that PostgreSQL's caches of one session take. */
const MAX_LIFETIME_SECONDS = 60 * 60;

/** libuv then sends ten probes, one per second. They find a lost server on idle connections. */
const KEEP_ALIVE_MS = 10_000;

const PROBE_TIMEOUT_MS = 2_000;

/** Opens a pool of one connection for metrics, which must not wait for a busy pool. A server that does not accept writes is no outage. */
export const openProbe = (connection: Omit<PoolOptions, 'size'>): pg.Pool =>
  createPool({ ...connection, size: 1, statementTimeoutMs: PROBE_TIMEOUT_MS, readsFromStandby: true });

/**
 * Creates a connection pool for scoped SQL statements and Prisma. With pipelining, a transaction's statements are sent
 * without waiting for the previous results.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const { size, onError, isPipelined = true, acceptsReadOnly = false, statementTimeoutMs } = options;
  const pool = new Pool({
    ...sessionSettings(options),
    max: size,
    pipeline: isPipelined,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    // A client-side timeout too, for a server that no longer responds.
    ...(statementTimeoutMs ? { query_timeout: statementTimeoutMs + 500 } : {}),
    application_name: 'crossdock',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...(acceptsReadOnly ? {} : { onConnect: serverCheck(acceptedBy(options)) }),
  });
  pool.on('error', onError);
  leaveLostServers(pool, {
    isPipelined,
    statementTimeoutMs: statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
  });
  // A connection that breaks in use already fails the statement. Without a listener it would also end the process.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    readInParts(client);
  });
  return pool;
}

/** The pool awaits the promise, and passes a client of the pool. Its types say neither. */
const serverCheck =
  (accepts: ReadOnlyServer | undefined) =>
  (client: pg.ClientBase): unknown =>
    refuseReadOnly(client as pg.PoolClient, CONNECT_TIMEOUT_MS, accepts);

function acceptedBy({ readsWhileReadOnly, readsFromStandby }: PoolOptions): ReadOnlyServer | undefined {
  if (readsFromStandby) return 'standby';
  return readsWhileReadOnly ? 'primary' : undefined;
}

/** The largest chunk that Node reads from a socket at once. Only large results fill it. */
const FULL_CHUNK_BYTES = 64 * 1024;

/**
 * Parses at most two chunks of a large result per turn of the event loop. If a result already waits in the socket's buffer,
 * Node would read up to 2 MB of it in one turn, which blocked all other requests for 100 ms.
 */
function readInParts({ connection: { stream } }: pg.PoolClient): void {
  stream.on('data', (chunk: Buffer) => {
    if (chunk.length < FULL_CHUNK_BYTES) return;
    stream.pause();
    setImmediate(() => stream.resume());
  });
}

/**
 * Returns the settings of a new session. Poolers reject them, so behind a pooler each scoped transaction sets them itself
 * (db/transactions/admission.ts). The time zone is UTC because Prisma's adapter (7.10) ignores the offset of a timestamptz. With JIT, a
 * server that has it compiled short statements for half a second, because a plan for unknown values expects many rows.
 */
function sessionSettings({
  url,
  assumeRole,
  isBehindPooler,
  statementTimeoutMs,
}: PoolOptions): pg.PoolConfig {
  if (isBehindPooler && assumeRole) throw new Error('Behind a pooler a connection cannot assume a role.');
  if (isBehindPooler) return { connectionString: url };
  const own = `-c timezone=UTC -c jit=off${assumeRole ? ` -c role=${assumeRole}` : ''}`;
  return {
    connectionString: withOptions(url, own),
    statement_timeout: statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    options: own,
  };
}

/** pg takes the options of a URL instead of those beside it. PostgreSQL takes the last of two, so ours follow. */
function withOptions(url: string, own: string): string {
  const address = new URL(url);
  const given = address.searchParams.get('options');
  if (given === null) return url;
  address.searchParams.set('options', `${given} ${own}`);
  return address.href;
}
