import { readRow } from '../../../platform/db/connections/rows.js';
import { countOf } from '../../../platform/values/count-of.js';
import { QUEUE_CONNECTIONS } from '../../../platform/queue/runner.js';
import { orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import type { Connected } from './subject.js';

/** Connections for migrations and for operators. */
const RESERVE = 5;

/** The connection of the login, and the processes whose pools are compared. */
type Sized = Pick<Connected, 'client' | 'config' | 'servers' | 'workers'>;

type Limits = { server: number; login: number; database: number; others: number };

/** Compares the pools of all processes with the connections that PostgreSQL grants to the login. */
export async function checkConnections(subject: Sized): Promise<Finding[]> {
  const needed = countNeeded(subject);
  const limits = await readRow<Limits>(
    subject.client,
    // Of other roles' connections a login sees only these columns. PostgreSQL's own processes have no role.
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true), '0')::int as server,
       (select rolconnlimit from pg_roles where rolname = session_user) as login,
       (select datconnlimit from pg_database where datname = current_database()) as database,
       (select count(*)::int from pg_stat_activity
        where usename is not null and datname <> current_database()) as others`,
  );
  const granted = Math.min(
    limits.server - limits.others,
    ...[limits.login, limits.database].filter((limit) => limit >= 0),
  );
  const state = `${describeProcesses(subject)} open up to ${needed} connections, and PostgreSQL grants ${granted}.`;
  if (needed > granted) {
    const limit =
      limits.login === granted ? 'the limit of the login (alter role … connection limit)' : 'max_connections';
    return [
      problem(
        state,
        `Raise ${limit}, lower POOL_SIZE, or use a pooler. If the servers have another RUN_WORKER, run this with theirs.`,
      ),
    ];
  }
  return orOk(
    [
      needed + RESERVE > granted &&
        warning(state, `Leave ${RESERVE} connections for migrations and operators.`),
    ],
    state,
  );
}

/** Behind a pooler, the pools lead to it, and only the queue and metrics reach PostgreSQL by themselves. */
function countNeeded({ config, servers, workers }: Sized): number {
  const { databasePooler, poolSize, worker: jobs } = config;
  const worker = (databasePooler ? 0 : jobs.poolSize) + QUEUE_CONNECTIONS;
  const server = (databasePooler ? 0 : poolSize) + (jobs.inProcess ? worker : 0);
  const metrics = config.metrics && !config.databasePooler ? servers + workers : 0;
  return servers * server + workers * worker + metrics;
}

/** Which of the two the servers are decides the count, and only the setting of this doctor says it. */
function describeProcesses({ config, servers, workers }: Sized): string {
  const { inProcess } = config.worker;
  const jobs = inProcess ? 'that also run the worker' : 'without the worker';
  return `${countOf(servers, 'server')} ${jobs} (RUN_WORKER=${inProcess}) and ${countOf(workers, 'separate worker')}`;
}
