import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { commandLine } from '../../../config/commands.js';
import { countOf } from '../../values/count-of.js';
import { APP_ROLE } from '../connections/roles.js';
import { hasTable, readValue } from '../connections/rows.js';
import { needsStop, type Migration } from './migration-files.js';

/** How long connections may take to end after their process has stopped. */
const END_MS = 5_000;

const POLL_MS = 100;

/** The option of the command that applies such a migration nevertheless. */
export const IGNORE_RUNNING = 'despite-running-processes' as const;

/**
 * Connections of servers and workers, by role: they have the name of our pools or, through a pooler, the role of a login. Of another
 * role's connections an owner sees only pid, database, role and application name; the other columns are null. PostgreSQL's own
 * processes have no role.
 */
const FIND_CONNECTIONS = `
  select a.usename::text as role, count(*)::int as connections from pg_stat_activity a join pg_roles r on r.oid = a.usesysid
  where a.datname = current_database() and a.pid <> pg_backend_pid()
    and (a.application_name = 'crossdock' or (r.rolname <> current_user and not r.rolsuper
      and pg_has_role(r.oid, (select oid from pg_roles where rolname = '${APP_ROLE}'), 'member')
      and a.application_name !~ '^crossdock migrate '))
  group by 1 order by 1`;

/** Workers whose heartbeat is not older than three intervals of the default. They may be connected through a pooler. */
const COUNT_WORKERS = `
  select count(*)::int from queue.worker_pools where seen_at > now() - interval '45 s'`;

/**
 * Refuses migrations that the previous release does not survive, while servers or workers use the database.
 *
 * @throws Error that says what runs, if it still runs after five seconds
 */
export async function assertStopped(client: pg.ClientBase, pending: Migration[]): Promise<void> {
  const stops = pending.filter(needsStop).map(({ name }) => name);
  if (stops.length === 0) return;
  const running = await findRunning(client);
  if (running === undefined) return;
  throw new Error(
    `The running version does not survive ${stops.join(', ')}, and processes use the database: ${running}. Nothing is applied. ${remedyOf('migrate')}`,
  );
}

/**
 * Refuses a command that changes what running processes keep in memory.
 *
 * @param why a sentence that says what the processes would do
 * @throws Error that says what runs, if it still runs after five seconds
 */
export async function assertNothingRuns(client: pg.ClientBase, command: string, why: string): Promise<void> {
  const running = await findRunning(client);
  if (running === undefined) return;
  throw new Error(`Processes use the database: ${running}. ${why} Nothing was changed. ${remedyOf(command)}`);
}

const remedyOf = (command: string): string =>
  'Stop every server and worker, restart a connection pooler, because it keeps connections, and repeat. ' +
  `If they are no processes of the service: ${commandLine(`${command} --${IGNORE_RUNNING}`)}.`;

/** Returns what runs, if it still runs after five seconds. */
async function findRunning(client: pg.ClientBase): Promise<string | undefined> {
  const deadlineMs = performance.now() + END_MS;
  for (;;) {
    const running = await describeRunning(client);
    if (running === undefined || performance.now() >= deadlineMs) return running;
    await sleep(POLL_MS);
  }
}

/** Returns undefined if nothing runs. */
async function describeRunning(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ role: string; connections: number }>(FIND_CONNECTIONS);
  const parts = rows.map(
    ({ role, connections }) => `${countOf(connections, 'connection')} of the role ${role}`,
  );
  const workers = await countWorkers(client);
  if (workers > 0) parts.push(`${countOf(workers, 'worker')} with a heartbeat in the last 45 s`);
  return parts.length > 0 ? parts.join(', ') : undefined;
}

/** Returns the workers with a heartbeat in the last 45 s. */
export async function countWorkers(client: pg.ClientBase): Promise<number> {
  return (await hasTable(client, 'queue.worker_pools')) ? readValue(client, COUNT_WORKERS) : 0;
}
