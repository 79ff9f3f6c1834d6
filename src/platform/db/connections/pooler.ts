import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { withClient } from './roles.js';
import { readValue } from './rows.js';

/**
 * Returns whether this connection goes through a connection pooler. A pooler reports a process id of its own in the
 * handshake, not that of the PostgreSQL backend. The check runs in a transaction so that a pooler in statement mode, which
 * the service does not support, fails here.
 */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  await client.query('begin');
  const pid = await readValue<number>(client, 'select pg_backend_pid()');
  await client.query('rollback');
  return isPooledSession(client, pid);
}

/** Returns whether a connection, whose backend is `pid`, goes through a connection pooler. */
export const isPooledSession = (client: pg.ClientBase, pid: number): boolean =>
  // node-postgres stores the process id for query cancellation but does not declare it in its types.
  pid !== Reflect.get(client, 'processID');

/** @throws Error that names `setting` when `url` leads to a pooler or nowhere. Call it before using session features such as LISTEN. */
export async function assertDirect(setting: string, url: string): Promise<void> {
  const isBehindPooler = await withClient(url, isPooled).catch((cause: unknown) => {
    throw new Error(`${setting}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  if (isBehindPooler) throw new Error(notDirect(setting));
}

/** The same for a connection that is open. */
export async function assertDirectClient(setting: string, client: pg.ClientBase): Promise<void> {
  if (await isPooled(client)) throw new Error(notDirect(setting));
}

const notDirect = (setting: string) =>
  `${setting} leads to a connection pooler: set it to a connection to PostgreSQL itself`;

export type Urls = {
  url: string;
  /** DATABASE_OWNER_URL, if set. */
  ownerUrl: string | undefined;
  /** DATABASE_DIRECT_URL, if set. */
  directUrl: string | undefined;
  pooler: 'transaction' | undefined;
  /** Whether this process runs jobs, which needs LISTEN. */
  runsJobs: boolean;
};

/** Returns one message per setting that does not match the server it connects to. */
export async function poolerProblems({
  url,
  ownerUrl,
  directUrl,
  pooler,
  runsJobs,
}: Urls): Promise<string[]> {
  // Run this check even if DATABASE_POOLER is set, because a pooler in statement mode fails here.
  const [leadsToPooler, isOwnerPooled] = await Promise.all([
    withClient(url, isPooled),
    ownerUrl ? withClient(ownerUrl, isPooled) : false,
  ]);
  if (leadsToPooler && !pooler) return [POOLER_NOT_DECLARED];
  const problems: string[] = [];
  if (isOwnerPooled) problems.push(notDirect('DATABASE_OWNER_URL'));
  if (pooler && runsJobs && !directUrl) problems.push(DIRECT_URL_MISSING);
  if (!directUrl) return problems;
  if (await withClient(directUrl, isPooled)) problems.push(notDirect('DATABASE_DIRECT_URL'));
  else if (!(await isSameDatabase(directUrl, url)))
    problems.push('DATABASE_DIRECT_URL leads to another database than DATABASE_URL');
  return problems;
}

const POOLER_NOT_DECLARED =
  'DATABASE_URL leads to a connection pooler: set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to a connection to PostgreSQL itself; or set DATABASE_URL to PostgreSQL itself';

const DIRECT_URL_MISSING =
  'DATABASE_DIRECT_URL is required with DATABASE_POOLER in a process that works the queue: set it to a connection to PostgreSQL itself, or set RUN_WORKER=false and start workers elsewhere';

/** Compares by an advisory lock, which belongs to one database and needs no privilege. */
function isSameDatabase(directUrl: string, url: string): Promise<boolean> {
  const key = randomInt(2 ** 47);
  return withClient(directUrl, async (direct) => {
    await direct.query('begin');
    await direct.query('select pg_advisory_xact_lock($1)', [key]);
    return withClient(
      url,
      async (client) => !(await readValue(client, 'select pg_try_advisory_xact_lock($1)', [key])),
    );
  });
}
