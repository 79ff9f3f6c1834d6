import type pg from 'pg';
import type { Identity } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { assertUnused } from '../platform/db/connections/unused.js';
import { DEVELOPMENT_KEYS } from '../config/config.js';
import { SECRET_COLUMNS, sampleSecrets } from '../modules/tenants/secret-columns.js';
import { inEachTenant } from '../platform/context/each-tenant.js';
import { withServiceRole } from '../platform/db/open-database.js';
import { nameOf } from './database-owner.js';
import { fingerprint, readDeployments, type RecordedDeployment } from './deployment.js';
import { describePublicKeys, findPublished } from './published-credentials.js';

/** The operator names the deployment and the database, because the URL of production and of its copy look alike. */
export type TakeOver = { from: string; database: string };

type Named = Pick<RecordedDeployment, 'name' | 'appEnv'>;

/**
 * Gives the database of another deployment to this one. It inherits the fingerprints, so its keys must be those that were used.
 *
 * @param client connected as the owner, with the URL
 * @throws Error when the deployment or the database is another one, or the database is in use
 */
export async function takeOver(
  client: pg.Client,
  { appEnv, name, keys }: Identity,
  { from, database, url }: TakeOver & { url: string },
): Promise<void> {
  if (name === undefined)
    throw new Error('Set DEPLOYMENT to the name of the deployment that takes the database over.');
  const own = { name, appEnv };
  const rows = await readDeployments(client);
  const same = rows.find((row) => row.name === from && row.name === name && row.appEnv === appEnv);
  if (same && keys.encryptionKeys && !hasKeyOf(same, keys.encryptionKeys)) {
    await assertDatabase(client, database);
    return recordPresentKeys({ client, url }, same, keys.encryptionKeys);
  }
  const given = findGiven(rows, own, from);
  await assertDatabase(client, database);
  if (appEnv !== 'development') await assertUnpublished(client, keys, given);
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

/**
 * The record of public keys is what later stops a start, so it must not be taken over or removed.
 *
 * @throws Error when the deployment used public keys, or the database has a published credential
 */
async function assertUnpublished(
  client: pg.Client,
  keys: Identity['keys'],
  given: RecordedDeployment,
): Promise<void> {
  const [publicKeys] = describePublicKeys(given);
  if (publicKeys) throw new Error(`${publicKeys.message} ${publicKeys.remedy}`);
  const secrets = { ...DEVELOPMENT_KEYS, ...keys };
  const [published] = await findPublished(client, { secrets });
  if (published) throw new Error(`${published.message} ${published.remedy}`);
}

/**
 * Records other ENCRYPTION_KEYS for the same deployment, which has lost those that it used.
 *
 * @throws Error when something is encrypted, or the database is in use
 */
async function recordPresentKeys(
  { client, url }: { client: pg.Client; url: string },
  { name, appEnv }: RecordedDeployment,
  encryptionKeys: NonNullable<Identity['keys']['encryptionKeys']>,
): Promise<void> {
  const prints = encryptionKeys.map(({ key }) => fingerprint(key));
  await assertUnused(client);
  const encrypted = await findEncrypted(url);
  if (encrypted.length > 0)
    throw new Error(
      `The database contains encrypted fields (${encrypted.join(', ')}), which only the keys that were used can decrypt. Nothing was changed. ` +
        'Add one of them to ENCRYPTION_KEYS: the copy that you stored apart from the backups, or the file replaced-encryption-keys, has it.',
    );
  await client.query(
    `update installation.deployments set fingerprints = fingerprints || jsonb_build_object('ENCRYPTION_KEYS', $3::jsonb)
     where (name, app_env) = ($1, $2)`,
    [name, appEnv, JSON.stringify(prints)],
  );
}

const hasKeyOf = (
  { fingerprints }: RecordedDeployment,
  keys: NonNullable<Identity['keys']['encryptionKeys']>,
): boolean => keys.some(({ key }) => fingerprints['ENCRYPTION_KEYS']?.includes(fingerprint(key)));

/** Returns the columns that contain something encrypted. Reads each tenant with the rights of the service. */
async function findEncrypted(url: string): Promise<string[]> {
  const samples = await withServiceRole(url, (db) =>
    inEachTenant(db, 'take-over', (ctx) =>
      ctx.read(SECRET_COLUMNS.map((column) => sampleSecrets(ctx, column))),
    ),
  );
  return SECRET_COLUMNS.filter((_, index) => samples.some((ofTenant) => ofTenant[index]?.length)).map(
    ({ table, column }) => `${table}.${column}`,
  );
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
  const present = await nameOf(client);
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
