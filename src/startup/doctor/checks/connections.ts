import { QUEUE_CONNECTIONS } from '../../../platform/queue/runner.js';
import { ok, problem, warning, type Finding } from './finding.js';
import type { Connected } from './subject.js';

/** Connections for migrations and for operators. */
const RESERVE = 5;

/** The connection of the login, and the processes whose pools are compared. */
type Sized = Pick<Connected, 'client' | 'config' | 'servers' | 'workers'>;

type Limits = { server: number; login: number; database: number; others: number };

/** Compares the pools of all processes with the connections that PostgreSQL grants to the login. */
export async function checkConnections(subject: Sized): Promise<Finding[]> {
  const needed = countNeeded(subject);
  const { rows } = await subject.client.query<Limits>(
    // Of other roles' connections a login sees only these columns. PostgreSQL's own processes have no role.
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true), '0')::int as server,
       (select rolconnlimit from pg_roles where rolname = session_user) as login,
       (select datconnlimit from pg_database where datname = current_database()) as database,
       (select count(*)::int from pg_stat_activity
        where usename is not null and datname <> current_database()) as others`,
  );
  const [limits] = rows;
  if (!limits) return [];
  const granted = Math.min(
    limits.server - limits.others,
    ...[limits.login, limits.database].filter((limit) => limit >= 0),
  );
  const state = `${describeProcesses(subject)} open up to ${needed} connections, and PostgreSQL grants ${granted}.`;
  if (needed > granted) return [problem(state, 'Raise max_connections, lower POOL_SIZE, or use a pooler.')];
  if (needed + RESERVE > granted)
    return [warning(state, `Leave ${RESERVE} connections for migrations and operators.`)];
  return [ok(state)];
}

/** Behind a pooler, the pools lead to it, and only the queue and metrics reach PostgreSQL by themselves. */
function countNeeded({ config, servers, workers }: Sized): number {
  const pool = config.databasePooler ? 0 : config.poolSize;
  const worker = pool + QUEUE_CONNECTIONS;
  const server = pool + (config.worker.inProcess ? worker : 0);
  const metrics = config.metrics && !config.databasePooler ? servers + workers : 0;
  return servers * server + workers * worker + metrics;
}

const describeProcesses = ({ servers, workers }: Sized): string =>
  `${servers} ${servers === 1 ? 'server' : 'servers'} and ${workers} separate ${workers === 1 ? 'worker' : 'workers'}`;
