import type pg from 'pg';
import { commandLine } from '../config/commands.js';
import { PUBLISHED } from '../config/published.js';
import { readRow, readValues } from '../platform/db/connections/rows.js';
import type { RecordedDeployment } from './deployment.js';

/** Lets a copy be used in development. The row says that this is intended. */
const ALLOW = `insert into installation.deployments (name, app_env, fingerprints, version) values ('development', 'development', '{}', '-')`;

/**
 * Returns why a process of development must not use the database (docs/decisions/0067). Its secrets are public and it serves plain HTTP, so
 * it could open real data to everybody.
 *
 * @param client any connection. The database may be empty, or have an older schema
 * @param deployments those that have used it
 * @param options.isOwn whether it is the embedded server of this clone
 * @param options.refusesMaintenance whether an empty database of PostgreSQL itself is refused too
 */
export async function findObstacleToDevelopment(
  client: pg.ClientBase,
  deployments: RecordedDeployment[],
  { isOwn = false, refusesMaintenance = false }: { isOwn?: boolean; refusesMaintenance?: boolean },
): Promise<string | undefined> {
  const { name, hasTenants, mayList } = await readRow<State>(client, STATE);
  if (!hasTenants && MAINTENANCE.includes(name) && refusesMaintenance && !isOwn)
    return (
      `The database ${name} belongs to the server's own maintenance, so APP_ENV=development, which loads demo data, is refused. ` +
      'Create a database, for example with createdb crossdock, and name it in the URL.'
    );
  const latest = deployments.toSorted((one, other) => other.seenAt.getTime() - one.seenAt.getTime());
  const real = latest.find(({ appEnv }) => appEnv !== 'development');
  if (real)
    return (
      `The deployment ${real.name} (APP_ENV=${real.appEnv}) has used this database, so APP_ENV=development is refused. ` +
      `Set APP_ENV=${real.appEnv}, or correct the database's URL. For a copy, first run ${commandLine('anonymise')} as docs/staging.md describes.`
    );
  const tenants = hasTenants
    ? await readValues<string>(client, mayList ? LISTED : 'select id from tenants')
    : [];
  const demo: string[] = Object.values(PUBLISHED.tenantIds);
  const others = tenants.filter((id) => !demo.includes(id));
  const beganInDevelopment = deployments.length > 0 || others.length < tenants.length;
  if (isOwn || beganInDevelopment || others.length === 0) return undefined;
  return (
    `The database contains tenants that are not those of the demo data (${others.length}), and no process of development has used it. ` +
    "So APP_ENV=development is refused. Set the APP_ENV of its deployment, or correct the database's URL. If it contains no real data, " +
    `apply the migrations, and run as the owner: ${ALLOW}`
  );
}

type State = { name: string; hasTenants: boolean; mayList: boolean };

const STATE = `select current_database() as name, to_regclass('public.tenants') is not null as "hasTenants",
  coalesce(has_function_privilege(to_regprocedure('public.all_tenants()'), 'execute'), false) as "mayList"`;

/** The databases that PostgreSQL creates itself. */
const MAINTENANCE = ['postgres', 'template1'];

/** Row-level security hides the tenants from the service's login, which may list their ids. */
const LISTED = 'select all_tenants()';
