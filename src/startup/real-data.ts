import type pg from 'pg';
import { commandLine } from '../config/commands.js';
import { PUBLISHED } from '../config/published.js';

/** Lets a copy be used in development. The row says that this is intended. */
const ALLOW = `insert into installation.deployments (name, app_env, fingerprints, version) values ('development', 'development', '{}', '-')`;

type State = {
  deployments: { name: string; app_env: string }[];
  tenants: string[];
  /** The name of the database, if it is one that PostgreSQL creates itself and nothing of ours is in it. */
  maintenance: string | undefined;
};

/**
 * Returns why a process of development must not use the database (docs/decisions/0067). Its secrets are public and it serves plain HTTP, so
 * it could open real data to everybody.
 *
 * @param client any connection. The database may be empty, or have an older schema
 * @param options.isOwn whether it is the embedded server of this clone
 * @param options.refusesMaintenance whether an empty database of PostgreSQL itself is refused too
 */
export async function findObstacleToDevelopment(
  client: pg.ClientBase,
  { isOwn = false, refusesMaintenance = false }: { isOwn?: boolean; refusesMaintenance?: boolean },
): Promise<string | undefined> {
  const { deployments, tenants, maintenance } = await readState(client);
  if (maintenance !== undefined && refusesMaintenance && !isOwn)
    return (
      `The database ${maintenance} belongs to the server's own maintenance, so APP_ENV=development, which loads demo data, is refused. ` +
      'Create a database, for example with createdb crossdock, and name it in the URL.'
    );
  const [real] = deployments.filter(({ app_env: appEnv }) => appEnv !== 'development');
  if (real)
    return (
      `The deployment ${real.name} (APP_ENV=${real.app_env}) has used this database, so APP_ENV=development is refused. ` +
      `Set APP_ENV=${real.app_env}, or correct the database's URL. For a copy, first run ${commandLine('anonymise')} as docs/staging.md describes.`
    );
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

async function readState(client: pg.ClientBase): Promise<State> {
  const { rows } = await client.query<{
    has_deployments: boolean;
    may_list: boolean;
    has_tenants: boolean;
    name: string;
  }>(
    `select to_regclass('installation.deployments') is not null as has_deployments,
       coalesce(has_function_privilege(to_regprocedure('public.all_tenants()'), 'execute'), false) as may_list,
       to_regclass('public.tenants') is not null as has_tenants, current_database() as name`,
  );
  const [found] = rows;
  return {
    deployments: found?.has_deployments
      ? (
          await client.query<State['deployments'][number]>(
            'select name, app_env from installation.deployments order by seen_at desc',
          )
        ).rows
      : [],
    tenants: found?.has_tenants ? await readTenants(client, found.may_list) : [],
    maintenance:
      found && !found.has_tenants && ['postgres', 'template1'].includes(found.name) ? found.name : undefined,
  };
}

/** Row-level security hides the tenants from the service's login, which may list their ids. */
async function readTenants(client: pg.ClientBase, mayList: boolean): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    mayList ? 'select all_tenants() as id' : 'select id from tenants',
  );
  return rows.map(({ id }) => id);
}
