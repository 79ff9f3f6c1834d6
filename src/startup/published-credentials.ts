import type pg from 'pg';
import { commandLine } from '../config/commands.js';
import { DEVELOPMENT_KEYS, type Config } from '../config/config.js';
import { PUBLISHED } from '../config/published.js';
import { decryptIfPossible, openSecrets, type Secrets } from '../platform/access/secrets.js';
import { readRows, readValues } from '../platform/db/connections/rows.js';
import { fingerprint, type RecordedDeployment } from './deployment.js';

/** A credential in the database that everybody can read. */
export type PublishedCredential = {
  /** A sentence that names the rows. */
  message: string;
  remedy: string;
};

/** bcrypt takes a quarter of a second. Real databases have no suspect hash; a loaded one has a single hash. */
const MAX_COMPARISONS = 16;

const REMOVE = `To replace every published credential, run ${commandLine('remove-published')} with DATABASE_OWNER_URL set.`;

/**
 * Finds published passwords, authenticator secrets and API keys in the rows of all tenants, and deployments that used the public
 * secrets of development. Without demo data it takes three round trips and no hash, with more than 100 tenants one more per hundred.
 *
 * @param client a connection of the service, or of the owner
 */
export async function findPublished(
  client: pg.ClientBase,
  config: Pick<Config, 'secrets'>,
): Promise<PublishedCredential[]> {
  const { passwords, authenticators, keys, deployments } = await readPublished(
    client,
    openSecrets(config.secrets),
  );
  return [
    ...passwords.map(({ tenant, usernames }) =>
      remove(
        `Users of the tenant ${tenant} have the published password of the demo data: ${usernames.join(', ')}.`,
      ),
    ),
    ...authenticators.map(({ tenant, username }) =>
      remove(`The user ${username} of the tenant ${tenant} has the published authenticator secret.`),
    ),
    ...keys.map(({ tenant, code }) =>
      remove(`The courier ${code} of the tenant ${tenant} has a published API key of the demo data.`),
    ),
    ...deployments.flatMap(({ name, app_env: appEnv, fingerprints }) =>
      describePublicKeys({ name, appEnv, fingerprints }),
    ),
  ];
}

/** Returns the rows with published credentials. */
export async function readPublished(client: pg.ClientBase, secrets: Secrets): Promise<Suspects> {
  const found = await readSuspects(client, publishedKeyHashes(secrets));
  const published = await publishedPasswordHashes(found.passwords);
  return {
    ...found,
    passwords: found.passwords.filter(({ password_hash: hash }) => published.has(hash)),
    authenticators: found.authenticators.filter(
      // One that another key has encrypted is used by nobody here.
      ({ tenant_id: tenantId, user_id: rowId, totp_secret: cipher }) =>
        decryptIfPossible(secrets, cipher, { tenantId, rowId, field: 'totp_secret' }) ===
        PUBLISHED.totpSecret,
    ),
  };
}

const remove = (message: string): PublishedCredential => ({ message, remedy: REMOVE });

type Suspects = {
  passwords: { tenant: string; password_hash: string; usernames: string[]; users: number }[];
  authenticators: {
    tenant_id: string;
    tenant: string;
    user_id: string;
    username: string;
    totp_secret: string;
  }[];
  keys: { tenant: string; code: string }[];
  deployments: { name: string; app_env: string; fingerprints: Record<string, string[]> }[];
};

type SuspectsOfTenant = Omit<Suspects, 'deployments'>;

const DEPLOYMENTS = 'select name, app_env, fingerprints from installation.deployments';

/** So many tenants are searched in one round trip. */
const TENANTS_AT_ONCE = 100;

/**
 * Reads each tenant in its own scope, as background jobs do: no function returns credentials of several tenants to a login that requests
 * use too. Statements that are sent together are one transaction, and the scope ends with it.
 */
async function readSuspects(client: pg.ClientBase, keyHashes: string[]): Promise<Suspects> {
  const ids = await readValues<string>(client, 'select id from all_tenants() as id');
  const found: SuspectsOfTenant[] = [];
  for (let start = 0; start < ids.length; start += TENANTS_AT_ONCE) {
    const statements = ids.slice(start, start + TENANTS_AT_ONCE).map((id) =>
      suspectsOf(
        client.escapeLiteral(id),
        keyHashes.map((hash) => client.escapeLiteral(hash)),
      ),
    );
    // pg returns one result per statement, which its types do not know. Each tenant has two: entering the scope, and its row.
    const results: unknown = await client.query([...statements, LEAVE].join(';'));
    found.push(
      ...(results as { rows: SuspectsOfTenant[] }[])
        .flatMap(({ rows }) => rows)
        .filter((row) => 'keys' in row),
    );
  }
  return {
    passwords: found.flatMap(({ passwords }) => passwords),
    authenticators: found.flatMap(({ authenticators }) => authenticators),
    keys: found.flatMap(({ keys }) => keys),
    deployments: await readRows<Suspects['deployments'][number]>(client, DEPLOYMENTS),
  };
}

/** A client may have a transaction of its own, which continues. */
const LEAVE = "select set_config('app.tenant_id', '', true), set_config('app.courier_id', '', true)";

const DEMO_TENANTS = Object.values(PUBLISHED.tenantIds)
  .map((id) => `'${id}'`)
  .join();

/**
 * Each subquery filters by the tenant itself: a superuser bypasses row-level security.
 *
 * @param id a literal
 * @param keyHashes literals
 */
const suspectsOf = (id: string, keyHashes: string[]): string => `select outcome from enter_as_system(${id});
  select
    (select coalesce(jsonb_agg(p), '[]') from (
      select t.slug as tenant, u.password_hash, (array_agg(u.username order by u.username))[1:5] as usernames, count(*)::int as users
      from users u where u.tenant_id = t.id group by u.password_hash having count(*) > 1 or t.id in (${DEMO_TENANTS})
      order by count(*) desc limit 500) p) as passwords,
    (select coalesce(jsonb_agg(a), '[]') from (
      select t.id as tenant_id, t.slug as tenant, u.id as user_id, u.username, u.totp_secret
      from users u where u.tenant_id = t.id and t.id in (${DEMO_TENANTS}) and u.totp_secret is not null
      order by u.username limit 100) a) as authenticators,
    (select coalesce(jsonb_agg(k), '[]') from (
      select t.slug as tenant, c.code from couriers c where c.tenant_id = t.id and c.api_key_hash in (${keyHashes.join()})
      order by c.code limit 100) k) as keys
  from tenants t where t.id = ${id}`;

/** Returns the hashes of the published API keys under this deployment's LOOKUP_KEY, and under the public one of development. */
export function publishedKeyHashes(secrets: Secrets): string[] {
  const ofDevelopment = openSecrets(DEVELOPMENT_KEYS);
  return Object.values(PUBLISHED.apiKeys).flatMap((key) =>
    [secrets, ofDevelopment].map((each) => each.lookupHash(key, 'api_key')),
  );
}

/** Returns those of the hashes that are of the published password. The hashes of the most users are compared first. */
async function publishedPasswordHashes(passwords: Suspects['passwords']): Promise<Set<string>> {
  const hashes = passwords
    .toSorted((one, other) => other.users - one.users)
    .map((each) => each.password_hash);
  const distinct = [...new Set(hashes)].slice(0, MAX_COMPARISONS);
  if (distinct.length === 0) return new Set();
  // Loaded only if there is something to compare.
  const { default: bcrypt } = await import('bcrypt');
  const isPublished = await Promise.all(distinct.map((hash) => bcrypt.compare(PUBLISHED.password, hash)));
  return new Set(distinct.filter((_hash, index) => isPublished[index]));
}

/** The settings whose values protect rows. */
const STORING = ['ENCRYPTION_KEYS', 'LOOKUP_KEY'] as const;

/** Describes a deployment that has stored something with the public keys of development. */
export function describePublicKeys({
  name,
  appEnv,
  fingerprints,
}: Pick<RecordedDeployment, 'name' | 'appEnv' | 'fingerprints'>): PublishedCredential[] {
  const published = {
    ENCRYPTION_KEYS: DEVELOPMENT_KEYS.encryptionKeys.map(({ key }) => fingerprint(key)),
    LOOKUP_KEY: [fingerprint(DEVELOPMENT_KEYS.lookupKey)],
  };
  const used = STORING.filter((setting) =>
    published[setting].some((print) => fingerprints[setting]?.includes(print)),
  );
  if (used.length === 0) return [];
  return [
    {
      message:
        `The deployment ${name} (APP_ENV=${appEnv}) has used this database with the public development values of ` +
        `${used.join(' and ')}, so what it stored is protected by no secret.`,
      remedy: 'Use a new database. No command replaces what was stored with them.',
    },
  ];
}
