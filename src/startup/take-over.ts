import type pg from 'pg';
import type { Identity } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { assertUnused } from '../platform/db/connections/unused.js';
import { readDeployments, type RecordedDeployment } from './deployment.js';

/** The operator names the deployment and the database, because the URL of production and of its copy look alike. */
export type TakeOver = { from: string; database: string };

type Named = Pick<RecordedDeployment, 'name' | 'appEnv'>;

/**
 * Gives the database of another deployment to this one. It inherits the fingerprints, so its keys must be those that were used.
 *
 * @param client connected as the owner
 * @throws Error when the deployment or the database is another one, or the database is in use
 */
export async function takeOver(
  client: pg.Client,
  { appEnv, name }: Identity,
  { from, database }: TakeOver,
): Promise<void> {
  if (name === undefined)
    throw new Error('Set DEPLOYMENT to the name of the deployment that takes the database over.');
  const own = { name, appEnv };
  const rows = await readDeployments(client);
  const given = findGiven(rows, own, from);
  await assertDatabase(client, database);
  if (appEnv === 'development' && given.appEnv !== 'development')
    throw new Error(
      `APP_ENV=development would serve the data of ${from} with public keys. First run ${commandLine('anonymise')} as docs/staging.md describes.`,
    );
  // Development never outranks real data, as in the guard.
  const isOwner = given === (rows.find((row) => row.appEnv !== 'development') ?? rows[0]);
  if (!isOwner) return remove(client, given);
  if (given.appEnv !== appEnv) await assertUnused(client);
  await replace(client, given, own);
}

/** Of two with one name, the one of another environment is meant only if there is no other. */
function findGiven(rows: RecordedDeployment[], own: Named, from: string): RecordedDeployment {
  const matching = rows.filter(
    (row) => row.name === from && (row.name !== own.name || row.appEnv !== own.appEnv),
  );
  const given = matching.find((row) => row.appEnv === own.appEnv) ?? matching[0];
  if (given) return given;
  const used = rows.map((row) => `${row.name} (APP_ENV=${row.appEnv})`).join(', ');
  throw new Error(`No other deployment with the name ${from} has used this database: ${used || 'none has'}.`);
}

async function assertDatabase(client: pg.ClientBase, name: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  const present = rows[0]?.name;
  if (present !== name)
    throw new Error(
      `The URL leads to the database ${present}, and --database names ${name}. Correct one of them.`,
    );
}

async function remove(client: pg.ClientBase, { name, appEnv }: Named): Promise<void> {
  await client.query('delete from installation.deployments where (name, app_env) = ($1, $2)', [name, appEnv]);
}

/** The row of the owner stays, with its fingerprints, under the new name. */
async function replace(client: pg.ClientBase, given: Named, own: Named): Promise<void> {
  await client.query('begin');
  try {
    await remove(client, own);
    await client.query(
      'update installation.deployments set name = $3, app_env = $4 where (name, app_env) = ($1, $2)',
      [given.name, given.appEnv, own.name, own.appEnv],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}
