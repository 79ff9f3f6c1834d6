import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { readRows, readValue } from '../connections/rows.js';

// An arbitrary key, the same in every replica.
const MIGRATION_LOCK = 7_203_114;

const POLL_MS = 100;

/** PostgreSQL cuts names of applications after 63 characters. */
const MAX_NAME = 63;

/** The name under which all connections of this process that migrates appear in pg_stat_activity. */
export const migrationSession = (): string =>
  `crossdock migrate ${process.pid} on ${hostname()}`.slice(0, MAX_NAME);

/** A process that migrates, as pg_stat_activity shows it. A login without rights on it sees no address, times and statements. */
export type MigrationHolder = {
  /** The backends of its connections. The first one has the lock. */
  pids: number[];
  application: string;
  user: string;
  address: string | null;
  since: Date | null;
  query: string | null;
};

const HOLDER = `with holder as (
    select a.* from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.classid = 0 and l.objid = ${MIGRATION_LOCK}
      and l.database = (select oid from pg_database where datname = current_database()) limit 1),
  others as (
    select a.* from holder h join pg_stat_activity a on a.datname = h.datname and a.pid <> h.pid
      and a.application_name = h.application_name and h.application_name like 'crossdock migrate %')
  select array[h.pid] || array(select o.pid from others o order by o.pid) as pids, h.application_name as application,
    h.usename as user, host(h.client_addr) as address, h.backend_start as since,
    nullif(coalesce((select o.query from others o where o.state <> 'idle' order by o.query_start limit 1), h.query),
      '<insufficient privilege>') as query
  from holder h`;

/** Returns the process that has the migration lock of this database, if there is one. */
export async function findMigrationHolder(client: pg.ClientBase): Promise<MigrationHolder | undefined> {
  const [holder] = await readRows<MigrationHolder>(client, HOLDER);
  return holder;
}

/** Describes it in one line. */
export function describeHolder({ pids, application, user, address, since, query }: MigrationHolder): string {
  const details = [
    `PostgreSQL backend ${pids.join(' and ')}`,
    application ? `application ${application}` : 'an application without a name',
    `role ${user}`,
    address ? `from ${address}` : 'from an unknown address',
    since ? `connected since ${since.toISOString()}` : undefined,
    query ? `statement: ${query.replace(/\s+/g, ' ').trim().slice(0, 200)}` : undefined,
  ];
  return details.filter(Boolean).join(', ');
}

/** Says how to end it. */
export const holderRemedy = ({ pids }: MigrationHolder): string =>
  'Let it finish, or set MIGRATION_WAIT_SECONDS higher. If it hangs, end that process, or run as its role ' +
  `select ${pids.map((pid) => `pg_terminate_backend(${pid})`).join(', ')}; what it has not committed is rolled back.`;

/**
 * Takes the lock that lets one process migrate, for the session. Waits without an open statement: building an index concurrently
 * waits for every older one, so a process that waited in one would make the process that has the lock wait forever.
 *
 * @throws Error that names the holder, if another process still has the lock after the time
 */
export async function lockMigrations(
  client: pg.ClientBase,
  waitSeconds: number,
  log: (line: string) => void,
): Promise<void> {
  const deadlineMs = performance.now() + waitSeconds * 1000;
  let isAnnounced = false;
  while (!(await tryLock(client))) {
    const holder = await findMigrationHolder(client);
    if (holder && performance.now() >= deadlineMs)
      throw new Error(
        `Another migration still runs after ${waitSeconds} s: ${describeHolder(holder)}. ${holderRemedy(holder)}`,
      );
    if (holder && !isAnnounced) {
      log(`Waiting up to ${waitSeconds} s for another migration: ${describeHolder(holder)}.`);
      isAnnounced = true;
    }
    await sleep(POLL_MS);
  }
}

const tryLock = (client: pg.ClientBase): Promise<boolean> =>
  readValue(client, 'select pg_try_advisory_lock($1)', [MIGRATION_LOCK]);
