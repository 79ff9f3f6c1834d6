import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { withClient } from './roles.js';

/**
 * Whether a connection pooler stands between this connection and PostgreSQL. PostgreSQL tells a client the number of the
 * process that serves it, and a pooler a number of its own. Inside a transaction, because a pooler in statement mode
 * refuses one, and then nothing here works.
 */
export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  await client.query('begin');
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  await client.query('rollback');
  // node-postgres has it for cancelling, and leaves it out of its types
  return rows[0]?.pid !== Reflect.get(client, 'processID');
}

/** @throws with what to set when `url` leads to a pooler; what needs a session of its own calls this */
export async function assertDirect(setting: string, url: string): Promise<void> {
  if (await withClient(url, isPooled)) throw new Error(notDirect(setting));
}

const notDirect = (setting: string) =>
  `${setting} leads to a connection pooler: set it to a connection to PostgreSQL itself`;

export type Urls = {
  url: string;
  /** DATABASE_OWNER_URL's, where it is set. */
  ownerUrl: string | undefined;
  /** DATABASE_DIRECT_URL's, where it is set. */
  directUrl: string | undefined;
  pooler: 'transaction' | undefined;
  /** Whether this process works the queue, which needs LISTEN. */
  worksQueue: boolean;
};

/** One line for each way in which the settings do not fit where these connections lead. */
export async function poolerProblems({
  url,
  ownerUrl,
  directUrl,
  pooler,
  worksQueue,
}: Urls): Promise<string[]> {
  // asked with a pooler declared as well: one in statement mode fails here
  const leadsToPooler = await withClient(url, isPooled);
  if (leadsToPooler && !pooler) return [UNDECLARED];
  const faults: string[] = [];
  if (ownerUrl && (await withClient(ownerUrl, isPooled))) faults.push(notDirect('DATABASE_OWNER_URL'));
  if (pooler && worksQueue && !directUrl) faults.push(DIRECT_MISSING);
  if (!directUrl) return faults;
  if (await withClient(directUrl, isPooled)) faults.push(notDirect('DATABASE_DIRECT_URL'));
  else if (!(await leadToOneDatabase(directUrl, url)))
    faults.push('DATABASE_DIRECT_URL leads to another database than DATABASE_URL');
  return faults;
}

const UNDECLARED =
  'DATABASE_URL leads to a connection pooler: set DATABASE_POOLER=transaction, and DATABASE_DIRECT_URL to a connection to PostgreSQL itself; or set DATABASE_URL to PostgreSQL itself';

const DIRECT_MISSING =
  'DATABASE_DIRECT_URL is required with DATABASE_POOLER in a process that works the queue: set it to a connection to PostgreSQL itself, or set RUN_WORKER=false and start workers elsewhere';

/** By a lock: advisory locks are each database's own, and need no right that the service's login lacks. */
function leadToOneDatabase(directUrl: string, url: string): Promise<boolean> {
  const key = randomInt(2 ** 47);
  return withClient(directUrl, async (direct) => {
    await direct.query('begin');
    await direct.query('select pg_advisory_xact_lock($1)', [key]);
    return withClient(url, async (client) => {
      const { rows } = await client.query<{ is_free: boolean }>(
        'select pg_try_advisory_xact_lock($1) as is_free',
        [key],
      );
      return rows[0]?.is_free === false;
    });
  });
}
