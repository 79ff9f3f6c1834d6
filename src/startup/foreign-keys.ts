import type pg from 'pg';
import { describeDeployment, type Deployment } from './deployment.js';
import type { Config } from '../config/config.js';

/**
 * Returns why this deployment must not use the database: its ENCRYPTION_KEYS have no key in common with those of the deployment that used it. So
 * they read nothing that is stored, and what they store nobody else reads. A rotation always has the old key beside the new one. The other
 * secrets are replaced at once, so they show nothing.
 */
export async function findForeignKeys(client: pg.ClientBase, config: Config): Promise<string | undefined> {
  const own = describeDeployment(config);
  const { rows } = await client.query<Pick<Deployment, 'name' | 'appEnv' | 'fingerprints'>>(
    'select name, app_env as "appEnv", fingerprints from installation.deployments order by seen_at desc',
  );
  const before = rows.filter(({ name, appEnv }) => name === own.name && appEnv === own.appEnv);
  // A deployment that was renamed has used the database under its old name.
  const users = before.length > 0 ? before : rows;
  const known = users.filter(({ fingerprints }) => (fingerprints[SETTING] ?? []).length > 0);
  const isShared = known.some(({ fingerprints }) =>
    fingerprints[SETTING]?.some((print) => own.fingerprints[SETTING]?.includes(print)),
  );
  const [last] = known;
  if (!last || isShared) return undefined;
  const { name, appEnv } = last;
  return (
    `The deployment ${name} (APP_ENV=${appEnv}) has used this database with other ENCRYPTION_KEYS, and none of them is in the setting. ` +
    `Correct the database's URL, or add the key that it used. If nothing in the database is encrypted, run as the owner ` +
    `delete from installation.deployments where name = '${name}' and app_env = '${appEnv}'.`
  );
}

const SETTING = 'ENCRYPTION_KEYS';
