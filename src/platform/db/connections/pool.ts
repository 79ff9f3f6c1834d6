import pg from 'pg';

const { Pool, types } = pg;

// A calendar date stays text: as a Date it would move with the process's time zone.
types.setTypeParser(types.builtins.DATE, (value) => value);

export type PoolOptions = {
  url: string;
  size: number;
  /** Become this role at once: for a connection whose own role may do too much (development, tests). */
  assumeRole?: string;
  /** Told of idle connections that break. */
  onError(error: Error): void;
  /** Off for a library that waits for each answer anyway, and listens for notifications. */
  isPipelined?: boolean;
  /** A pooler may give each transaction another session, so that nothing is set for a session, and nothing prepared in it. */
  isBehindPooler?: boolean;
  /** How long a statement may take, where it is not as long as a request's. */
  statementTimeoutMs?: number;
};

/** Which database, as whom, and who is told of what breaks. */
export type Connection = Pick<PoolOptions, 'url' | 'assumeRole' | 'onError' | 'isBehindPooler'>;

/** How long a request waits for a connection before it is refused with 503. */
const CONNECT_TIMEOUT_MS = 2_000;

/** Above every request's own limit, so that an abandoned statement does not hold its locks for ever. */
export const STATEMENT_TIMEOUT_MS = 15_000;

const PROBE_TIMEOUT_MS = 2_000;

/** One connection, for questions about the database's own state: a busy pool does not keep it waiting. */
export const openProbe = (connection: Omit<PoolOptions, 'size'>): pg.Pool =>
  createPool({ ...connection, size: 1, statementTimeoutMs: PROBE_TIMEOUT_MS });

/**
 * The connection pool that the scoped statements and Prisma share. `pipeline` sends a transaction's statements
 * without waiting for each other's answers.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const { url, size, onError, isPipelined = true, statementTimeoutMs } = options;
  const pool = new Pool({
    connectionString: url,
    max: size,
    pipeline: isPipelined,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // our own clock as well, for a server that says nothing any more
    ...(statementTimeoutMs ? { query_timeout: statementTimeoutMs + 500 } : {}),
    application_name: 'crossdock',
    ...sessionSettings(options),
  });
  pool.on('error', onError);
  // one that breaks while a request holds it fails that request's statement, and must not end the process
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * What is sent with the start of a session; poolers refuse it, and scoped transactions then set it themselves
 * (transaction.ts). UTC, because Prisma's adapter (7.10) drops the offset of a timestamptz and takes the rest for UTC.
 */
function sessionSettings({ assumeRole, isBehindPooler, statementTimeoutMs }: PoolOptions): pg.PoolConfig {
  if (isBehindPooler && assumeRole) throw new Error('Behind a pooler a connection cannot assume a role.');
  if (isBehindPooler) return {};
  return {
    statement_timeout: statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    options: `-c timezone=UTC${assumeRole ? ` -c role=${assumeRole}` : ''}`,
  };
}
