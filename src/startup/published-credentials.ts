import type pg from 'pg';
import { commandLine } from '../config/commands.js';
import { DEVELOPMENT_KEYS, type Config } from '../config/config.js';
import { PUBLISHED } from '../config/published.js';
import { decryptIfPossible, openSecrets, type Secrets } from '../platform/access/secrets.js';
import { readRow } from '../platform/db/connections/rows.js';
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
 * secrets of development. Without demo data it takes one query and no hash.
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
  const tenants = Object.values(PUBLISHED.tenantIds);
  const found = await readRow<Suspects>(client, SUSPECTS, [tenants, publishedKeyHashes(secrets)]);
  const published = await publishedPasswordHashes(found.passwords.map(({ password_hash: hash }) => hash));
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
  passwords: { tenant: string; password_hash: string; usernames: string[] }[];
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

const SUSPECTS = `select
  (select coalesce(jsonb_agg(p), '[]') from suspect_passwords($1) p) as passwords,
  (select coalesce(jsonb_agg(a), '[]') from suspect_authenticators($1) a) as authenticators,
  (select coalesce(jsonb_agg(k), '[]') from couriers_with_keys($2) k) as keys,
  (select coalesce(jsonb_agg(d), '[]') from installation.deployments d) as deployments`;

/** Returns the hashes of the published API keys under this deployment's LOOKUP_KEY, and under the public one of development. */
export function publishedKeyHashes(secrets: Secrets): string[] {
  const ofDevelopment = openSecrets(DEVELOPMENT_KEYS);
  return Object.values(PUBLISHED.apiKeys).flatMap((key) =>
    [secrets, ofDevelopment].map((each) => each.lookupHash(key, 'api_key')),
  );
}

/** Returns those of the hashes that are of the published password. */
async function publishedPasswordHashes(hashes: string[]): Promise<Set<string>> {
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
