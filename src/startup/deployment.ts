import { createHmac } from 'node:crypto';
import type pg from 'pg';
import type { Config } from '../config/config.js';
import { packageVersion } from '../config/package-version.js';

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
    },
  };
}

export const fingerprint = (secret: string | Buffer): string =>
  createHmac('sha256', 'crossdock fingerprint of a secret').update(secret).digest('hex').slice(0, 16);

/** Records that a deployment uses the database. */
export async function recordDeployment(client: pg.ClientBase, deployment: Deployment): Promise<void> {
  const { name, appEnv, fingerprints } = deployment;
  await client.query(
    `insert into installation.deployments as deployment (name, app_env, fingerprints, version) values ($1, $2, $3, $4)
     on conflict (name, app_env) do update
     set fingerprints = excluded.fingerprints, version = excluded.version, seen_at = now()`,
    [name, appEnv, JSON.stringify(fingerprints), packageVersion()],
  );
}
