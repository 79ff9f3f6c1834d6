import { createHmac } from 'node:crypto';
import type pg from 'pg';
import type { Config } from '../config/config.js';
import { hasTable, readRows } from '../platform/db/connections/rows.js';
import { packageVersion } from '../config/project-root.js';

/** A deployment as its database knows it. */
export type Deployment = {
  name: string;
  appEnv: string;
  /** By setting: a fingerprint of each of its secrets. It identifies a secret and does not reveal it. */
  fingerprints: Record<string, string[]>;
};

export type RecordedDeployment = Deployment & { version: string; seenAt: Date };

export function describeDeployment({ appEnv, tokens, secrets }: Config): Deployment {
  return {
    name: tokens.deployment,
    appEnv,
    fingerprints: {
      TOKEN_KEYS: tokens.keys.map(({ secret }) => fingerprint(secret)),
      ENCRYPTION_KEYS: secrets.encryptionKeys.map(({ key }) => fingerprint(key)),
      LOOKUP_KEY: [fingerprint(secrets.lookupKey)],
      [TOKEN_KEY_NAMES]: namedPrints(tokens.keys),
    },
  };
}

/** The record of every token key that a deployment has used, with its name. The name of a key is never used for another one (decision 0100). */
export const TOKEN_KEY_NAMES = 'TOKEN_KEY_NAMES';

export type TokenKey = { id: string; secret: string };

const namedPrints = (keys: TokenKey[]): string[] =>
  keys.map(({ id, secret }) => `${id}=${fingerprint(secret)}`);

/** Returns the names of those keys that the deployments have recorded with another value. */
export function otherTokenKeys(rows: Deployment[], keys: TokenKey[]): string[] {
  const recorded = rows.flatMap(({ fingerprints }) => fingerprints[TOKEN_KEY_NAMES] ?? []);
  return keys
    .filter(({ id }) => recorded.some((named) => named.startsWith(`${id}=`)))
    .filter((key) => !recorded.includes(namedPrints([key]).join()))
    .map(({ id }) => id);
}

/** Returns whether none of the keys was given at the last start, as after a leak. Then no token of before is valid. */
export const areTokenKeysNew = (rows: Deployment[], deployment: Deployment): boolean =>
  isReplaced(rows, deployment, 'TOKEN_KEYS');

/** Returns whether none of the keys of a setting was given at the last start of the deployment, although there were some. */
function isReplaced(
  rows: Deployment[],
  { name, appEnv, fingerprints }: Deployment,
  setting: string,
): boolean {
  const last = rows.find((row) => row.name === name && row.appEnv === appEnv);
  const before = last?.fingerprints[setting] ?? [];
  return before.length > 0 && !before.some((print) => fingerprints[setting]?.includes(print));
}

export const fingerprint = (secret: string | Buffer): string =>
  createHmac('sha256', 'crossdock fingerprint of a secret').update(secret).digest('hex').slice(0, 16);

/** Returns the deployments that have used the database, the first one first. Empty before the migrations. */
export async function readDeployments(client: pg.ClientBase): Promise<RecordedDeployment[]> {
  if (!(await hasTable(client, 'installation.deployments'))) return [];
  return readRows(
    client,
    `select name, app_env as "appEnv", fingerprints, version, seen_at as "seenAt" from installation.deployments
     order by first_seen_at, name`,
  );
}

/** Returns which keys differ from those of the last start of a deployment, or undefined. A rotation has the old key beside the new one. */
export function describeChangedKeys(rows: Deployment[], deployment: Deployment): string | undefined {
  const changed = ['ENCRYPTION_KEYS', 'LOOKUP_KEY'].filter((setting) =>
    isReplaced(rows, deployment, setting),
  );
  if (changed.length === 0) return undefined;
  return (
    `The last start on this database had other keys (${changed.join(', ')}). What they encrypted or hashed, for example API keys, is not read. ` +
    'Give the old ones, or begin with a new database.'
  );
}

/** Records that a deployment uses the database. */
export async function recordDeployment(client: pg.ClientBase, deployment: Deployment): Promise<void> {
  const { name, appEnv, fingerprints } = deployment;
  // A command that ran without DEPLOYMENT before the first start has recorded the name of the environment.
  await client.query(
    `update installation.deployments set name = $1 where (name, app_env) = ($2, $2) and fingerprints = '{}'
       and not exists (select from installation.deployments where (name, app_env) = ($1, $2))`,
    [name, appEnv],
  );
  await client.query(
    `insert into installation.deployments as deployment (name, app_env, fingerprints, version) values ($1, $2, $3, $4)
     on conflict (name, app_env) do update
     set version = excluded.version, seen_at = now(), fingerprints = excluded.fingerprints || jsonb_build_object($5::text,
       (select jsonb_agg(distinct named) from jsonb_array_elements(coalesce(deployment.fingerprints -> $5, '[]')
         || coalesce(excluded.fingerprints -> $5, '[]')) named))`,
    [name, appEnv, JSON.stringify(fingerprints), packageVersion(), TOKEN_KEY_NAMES],
  );
}

/** Records that `rehash` has replaced the LOOKUP_KEY. From then on a start with the old one is refused. */
export async function recordLookupKey(
  client: pg.ClientBase,
  appEnv: string,
  lookupKey: Buffer,
): Promise<void> {
  await client.query(
    `update installation.deployments set fingerprints = jsonb_set(fingerprints, '{LOOKUP_KEY}', jsonb_build_array($2::text))
     where app_env = $1 and fingerprints ? 'LOOKUP_KEY'`,
    [appEnv, fingerprint(lookupKey)],
  );
}

/** Returns whether the deployments of an environment that have recorded a LOOKUP_KEY have recorded this one. */
export async function isLookupKeyRecorded(
  client: pg.ClientBase,
  environment: string,
  lookupKey: Buffer,
): Promise<boolean> {
  const deployments = await readDeployments(client);
  return deployments
    .filter(({ appEnv, fingerprints }) => appEnv === environment && fingerprints['LOOKUP_KEY'])
    .every(({ fingerprints }) => fingerprints['LOOKUP_KEY']?.includes(fingerprint(lookupKey)));
}
