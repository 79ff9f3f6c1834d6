import type pg from 'pg';
import type { Identity } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { assertUnused } from '../platform/db/connections/unused.js';
import { readDeployments } from './deployment.js';

/** The operator names the deployment and the database, because the URL of production and of its copy look alike. */
export type TakeOver = { from: string; database: string };

/**
 * Gives the database of another deployment to this one. It inherits the fingerprints, so its keys must be those that were used.
 *
 * @param client connected as the owner
 * @throws Error when the deployment or the database is another one, or the database is in use
 */
export async function takeOver(
  client: pg.Client,
  identity: Identity,
  { from, database }: TakeOver,
): Promise<void> {
  const { appEnv, name } = identity;
  if (name === undefined)
    throw new Error('Set DEPLOYMENT to the name of the deployment that takes the database over.');
  const rows = await readDeployments(client);
  const matching = rows.filter((row) => row.name === from && (row.name !== name || row.appEnv !== appEnv));
  // Of two with one name, the one of another environment was meant only if there is no other.
  const given = matching.find((row) => row.appEnv === appEnv) ?? matching[0];
  if (!given) {
    const used = rows.map((row) => `${row.name} (APP_ENV=${row.appEnv})`).join(', ');
    throw new Error(
      `No other deployment with the name ${from} has used this database: ${used || 'none has'}.`,
    );
  }
  await assertDatabase(client, database);
  if (appEnv === 'development' && given.appEnv !== 'development')
    throw new Error(
      `APP_ENV=development would serve the data of ${from} with public keys. First run ${commandLine('anonymise')} as docs/staging.md describes.`,
    );
  const [first] = rows;
  const isOwner = given === (rows.find((row) => row.appEnv !== 'development') ?? first);
  if (isOwner && given.appEnv !== appEnv) await assertUnused(client);
  await client.query('begin');
  try {
    // A stray row is only removed. The row of the owner stays, with its fingerprints, under the new name.
    const removed = isOwner ? { name, appEnv } : given;
    await client.query('delete from installation.deployments where (name, app_env) = ($1, $2)', [
      removed.name,
      removed.appEnv,
    ]);
    if (isOwner)
      await client.query(
        'update installation.deployments set name = $3, app_env = $4 where (name, app_env) = ($1, $2)',
        [given.name, given.appEnv, name, appEnv],
      );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function assertDatabase(client: pg.ClientBase, name: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  const present = rows[0]?.name;
  if (present !== name)
    throw new Error(
      `The URL leads to the database ${present}, and --database names ${name}. Correct one of them.`,
    );
}
