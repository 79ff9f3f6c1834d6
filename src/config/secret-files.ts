import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The settings that contain secrets. Orchestrators provide these as files. docs/deploy.md has a table with the place of each in
 * every form of deployment, and test/operations/deploy/secrets.test.ts compares them.
 */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_REPLICA_URL',
  'DATABASE_CELLS',
  'DATABASE_OWNER_CELLS',
  'TOKEN_KEYS',
  'ENCRYPTION_KEYS',
  'LOOKUP_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

/**
 * The files in the folder of secrets that are no settings: PostgreSQL, the pooler and the proxy read them. deploy/make-secrets.sh
 * and compose.yaml create and mount them, and test/operations/secrets/comparison.test.ts compares the names.
 */
export const SECRET_FILES = [
  'POSTGRES_PASSWORD',
  'OWNER_PASSWORD',
  'LOGIN_PASSWORD',
  'userlist.txt',
  'tls.pem',
] as const;

/** The environment with the secrets in files. */
export type SecretFiles = {
  given: NodeJS.ProcessEnv;
  /** One line per fault. */
  faults: string[];
  /** The secrets whose files could not be read, so that nobody knows whether they are set. */
  unread: string[];
};

/** Adds the secrets in the folder SECRETS_DIR to the environment: one file per setting, with the setting's name. */
export function withSecretFiles(env: NodeJS.ProcessEnv): SecretFiles {
  const folder = env['SECRETS_DIR'];
  if (!folder) return { given: env, faults: [], unread: [] };
  const fault = describeFolder(folder);
  if (fault) return { given: env, faults: [fault], unread: SECRET_SETTINGS.filter((name) => !env[name]) };
  const given = { ...env };
  const faults: string[] = [];
  const unread: string[] = [];
  for (const name of SECRET_SETTINGS) {
    const file = readSecret(join(folder, name));
    if (file.fault) {
      faults.push(`${name} cannot be read from SECRETS_DIR: ${file.fault}`);
      unread.push(name);
    }
    if (file.value === undefined) continue;
    if (env[name]) faults.push(`${name} is set and is also a file in SECRETS_DIR; remove one of them`);
    given[name] = file.value;
  }
  return { given, faults, unread };
}

/** Returns why no file of the folder can be read, or undefined. */
function describeFolder(folder: string): string | undefined {
  if (existsSync(folder) && !statSync(folder).isDirectory()) return 'SECRETS_DIR names a file, not a folder';
  try {
    accessSync(folder, constants.X_OK);
    return undefined;
  } catch (error) {
    if (isMissing(error)) return 'SECRETS_DIR names a folder that does not exist';
    const reason = error instanceof Error ? error.message : String(error);
    return `SECRETS_DIR names a folder that cannot be read: ${reason}. Allow the account of the service to read it and its files`;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Returns the file's text without the final line break that editors add; nothing if there is no such file. */
export function readSecret(path: string): { value?: string; fault?: string } {
  try {
    return { value: readFileSync(path, 'utf8').trimEnd() };
  } catch (error) {
    if (isMissing(error)) return {};
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
