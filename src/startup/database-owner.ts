import pg from 'pg';
import type { Identity } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { ConfigError } from '../config/config.js';
import { packageVersion } from '../config/project-root.js';
import { readValue } from '../platform/db/connections/rows.js';
import { withClient } from '../platform/db/connections/roles.js';
import { checkSearchPath } from '../platform/db/login-check/settings.js';
import { fingerprint, otherTokenKeys, readDeployments, type RecordedDeployment } from './deployment.js';
import { findObstacleToDevelopment } from './real-data.js';

export type GuardOptions = {
  /** A process of development also refuses tenants of nobody. Commands leave that to the process that serves them. */
  refusesUnknownTenants?: boolean;
  /** A process of development also refuses the empty database that PostgreSQL itself creates. */
  refusesMaintenance?: boolean;
  /** Whether it is the embedded server of this clone. */
  isOwn?: boolean;
  /** The LOOKUP_KEY that `rehash` replaces. */
  replacedLookupKey?: Buffer;
  /** The old LOOKUP_KEY is lost, and `rehash` says so. */
  acceptsAnyLookupKey?: boolean;
};

/**
 * Refuses a database that another deployment uses (docs/decisions/0087). Every command that opens a database calls it first.
 *
 * @param url of the service's or the owner's connection
 * @throws ConfigError with one line that says what to do
 */
export async function assertOwnDatabase(
  url: string,
  identity: Identity,
  options: GuardOptions = {},
): Promise<void> {
  const refusal = await withClient(url, async (client) => {
    // With a wrong search_path, what the database contains cannot be read.
    const [path] = await checkSearchPath(client);
    return path ? `${path.message} ${path.remedy}` : findRefusal(client, identity, options);
  });
  if (refusal) throw new ConfigError([refusal]);
}

/**
 * Returns why a command with this identity must not use the database, or undefined.
 *
 * @param client any connection. The database may be empty, or have an older schema
 */
export async function findRefusal(
  client: pg.ClientBase,
  identity: Identity,
  options: GuardOptions = {},
): Promise<string | undefined> {
  const rows = await readDeployments(client).catch((error: unknown) => {
    // A login without rights. The check of the login names them.
    if (error instanceof pg.DatabaseError && error.code === '42501') return [];
    throw error;
  });
  if (identity.appEnv === 'development')
    return rows.some(isReal) || options.refusesUnknownTenants
      ? findObstacleToDevelopment(client, rows, options)
      : undefined;
  // Development never outranks real data. The first of the others began the database.
  const owner = rows.find(isReal) ?? rows[0];
  if (!owner) return undefined;
  if (owner.appEnv !== identity.appEnv)
    return describeOtherEnvironment(owner, identity, await nameOf(client));
  const own = rows.filter(({ appEnv }) => appEnv === identity.appEnv);
  const database = await nameOf(client);
  const others = [
    describeOtherEncryptionKeys(own, identity, database),
    describeOtherLookupKey(own, identity, options),
    describeOtherTokenKeys(own, identity),
  ].flatMap((other) => (other ? [other] : []));
  const [other] = others;
  if (other && others.length > 1)
    return describeOtherKeys(
      other.used,
      others.map(({ keys }) => keys),
    );
  return describeOtherName(own, identity, database) ?? other?.message;
}

/** The present keys are right, and the database still has those of the restore point. */
const AFTER_RESTORE = 'Follow step 6 of docs/restore.md, and leave the present LOOKUP_KEY in the setting.';

/** What differs from the last start, which deployment that was, and what to do if nothing else differs. */
type OtherKeys = { keys: string; used: RecordedDeployment; message: string };

const describeOtherKeys = ({ name, appEnv }: RecordedDeployment, keys: string[]): string =>
  `The deployment ${name} (APP_ENV=${appEnv}) has used this database with ${listOf(keys)}, so the start is refused, and nothing was changed. ` +
  "If these are the settings of another deployment, correct SECRETS_DIR or the database's URL. " +
  `If this database was restored to a time before its keys were replaced, they are right. ${AFTER_RESTORE}`;

const listOf = (keys: string[]): string => `${keys.slice(0, -1).join(', ')} and ${keys.at(-1) ?? ''}`;

/**
 * Records that the deployment of a command uses a database that nobody has used yet. Its first start adds the fingerprints. Development
 * records only what it serves, because its empty databases may become those of a deployment.
 */
export async function claimDatabase(client: pg.ClientBase, { appEnv, name }: Identity): Promise<void> {
  if (appEnv === 'development') return;
  await client.query(
    `insert into installation.deployments (name, app_env, fingerprints, version)
     select $1, $2, '{}', $3 where not exists (select from installation.deployments)`,
    [name ?? appEnv, appEnv, packageVersion()],
  );
}

const isReal = ({ appEnv }: RecordedDeployment): boolean => appEnv !== 'development';

/** Returns the name of the database. */
export const nameOf = (client: pg.ClientBase): Promise<string> =>
  readValue(client, 'select current_database()');

/** Returns the command that gives the database of a deployment to this one, after its checks. */
export const takeOverLine = (name: string, database: string): string =>
  commandLine(`take-over --from ${name} --database ${database}`);

const RECENT_MS = 7 * 86_400_000;

/**
 * Returns a line for the first start under a name, if another name has used the database in the last days. Equal keys prove that the
 * deployment is the same, so the start is not refused.
 */
export function describeNewName(
  rows: RecordedDeployment[],
  { name, appEnv }: Pick<RecordedDeployment, 'name' | 'appEnv'>,
  database: string,
): string | undefined {
  const own = rows.filter((row) => row.appEnv === appEnv && Object.keys(row.fingerprints).length > 0);
  const last = newestOf(own);
  if (appEnv === 'development' || !last || own.some((row) => row.name === name)) return undefined;
  if (Date.now() - last.seenAt.getTime() > RECENT_MS) return undefined;
  return (
    `DEPLOYMENT=${name} uses this database for the first time. The deployment ${last.name} used it last, on ${last.seenAt.toISOString()}. ` +
    `If ${name} is a typing error, correct DEPLOYMENT and restart. If the deployment has a new name, run ${takeOverLine(last.name, database)}.`
  );
}

const describeOtherEnvironment = (owner: RecordedDeployment, { appEnv }: Identity, database: string) =>
  `The deployment ${owner.name} (APP_ENV=${owner.appEnv}) has used this database, so APP_ENV=${appEnv} is refused, and nothing was changed. ` +
  `Correct the database's URL, or set APP_ENV=${owner.appEnv}. ` +
  (owner.appEnv === 'development' ? describeDevelopment(appEnv) : describeCopy(owner, database));

/** What to do with a database of development in another environment. Every command refuses it. */
export const describeDevelopment = (appEnv: string): string =>
  `Development has public keys and published passwords, so ${appEnv} needs a new database.`;

const describeCopy = (owner: RecordedDeployment, database: string): string =>
  `If it is a copy, run ${commandLine('anonymise')} as docs/staging.md describes, ` +
  `or, to use its data as they are, ${takeOverLine(owner.name, database)}.`;

/** The name decides only where no LOOKUP_KEY proves that the deployment is the same. */
function describeOtherName(
  own: RecordedDeployment[],
  { name, keys }: Identity,
  database: string,
): string | undefined {
  // A command without DEPLOYMENT has recorded the name of its environment.
  const named = own.filter((row) => row.name !== row.appEnv || Object.keys(row.fingerprints).length > 0);
  const [first] = named;
  if (name === undefined || !first || named.some((row) => row.name === name)) return undefined;
  if (keys.lookupKey && newestWith(own, 'LOOKUP_KEY')) return undefined;
  return (
    `The deployment ${first.name} (APP_ENV=${first.appEnv}) has used this database, so DEPLOYMENT=${name} is refused, and nothing was changed. ` +
    `Correct the database's URL or DEPLOYMENT. If the deployment has a new name, run ${takeOverLine(first.name, database)}.`
  );
}

/** Two deployments with no key in common read nothing of each other. A rotation always has the old key beside the new one. */
function describeOtherEncryptionKeys(
  own: RecordedDeployment[],
  { keys }: Identity,
  database: string,
): OtherKeys | undefined {
  if (!keys.encryptionKeys) return undefined;
  const prints = keys.encryptionKeys.map(({ key }) => fingerprint(key));
  const last = newestWith(own, 'ENCRYPTION_KEYS');
  const isShared = own.some(({ fingerprints }) =>
    fingerprints['ENCRYPTION_KEYS']?.some((print) => prints.includes(print)),
  );
  if (!last || isShared) return undefined;
  const message =
    `The deployment ${last.name} (APP_ENV=${last.appEnv}) has used this database with other ENCRYPTION_KEYS, and none of them is in the setting. ` +
    "Correct the database's URL, or add the key that it used after the newest. After a replacement it is in the file replaced-encryption-keys of SECRETS_DIR; after a restore, see step 6 of docs/restore.md. " +
    `If all its keys are lost and nothing is encrypted, ${takeOverLine(last.name, database)} checks that and records the present keys.`;
  return { keys: 'other ENCRYPTION_KEYS', used: last, message };
}

/** With another LOOKUP_KEY no API key is found, and one entry breaks an audit chain. */
function describeOtherLookupKey(
  own: RecordedDeployment[],
  { keys }: Identity,
  { replacedLookupKey, acceptsAnyLookupKey }: GuardOptions,
): OtherKeys | undefined {
  const last = newestWith(own, 'LOOKUP_KEY');
  if (!keys.lookupKey || !last || acceptsAnyLookupKey) return undefined;
  const accepted = [keys.lookupKey, ...(replacedLookupKey ? [replacedLookupKey] : [])].map(fingerprint);
  if (last.fingerprints['LOOKUP_KEY']?.some((print) => accepted.includes(print))) return undefined;
  const used = `The deployment ${last.name} (APP_ENV=${last.appEnv}) has used this database with another LOOKUP_KEY`;
  const message = replacedLookupKey
    ? `${used} than the present and the replaced one, and nothing was changed. Give the LOOKUP_KEY that it used.`
    : `${used}, and nothing was changed. Correct LOOKUP_KEY or the database's URL. If LOOKUP_KEY was replaced, first run ` +
      `${commandLine('rehash --replaced-key FILE')} with the old key, as docs/leaked-secrets.md describes. ` +
      `If the database was restored to a time before that, the key is right. ${AFTER_RESTORE}`;
  return { keys: 'another LOOKUP_KEY', used: last, message };
}

/** A rotation gives each new key a new name, so a name with another value is of another deployment. */
function describeOtherTokenKeys(own: RecordedDeployment[], { keys }: Identity): OtherKeys | undefined {
  const names = otherTokenKeys(own, keys.tokenKeys ?? []);
  const last = newestWith(own, 'TOKEN_KEYS');
  if (names.length === 0 || !last) return undefined;
  const message =
    `The deployment ${last.name} (APP_ENV=${last.appEnv}) has used this database with another key of the name ${names.join(', ')} in TOKEN_KEYS, so the start is refused. ` +
    'Give the TOKEN_KEYS of this deployment. If the key is new, give it a name that was never used, for example the date.';
  return { keys: 'other TOKEN_KEYS', used: last, message };
}

const newestOf = (rows: RecordedDeployment[]): RecordedDeployment | undefined =>
  rows.toSorted((a, b) => a.seenAt.getTime() - b.seenAt.getTime()).at(-1);

const newestWith = (rows: RecordedDeployment[], setting: string): RecordedDeployment | undefined =>
  newestOf(rows.filter(({ fingerprints }) => (fingerprints[setting] ?? []).length > 0));
