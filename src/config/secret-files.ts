import { existsSync, readFileSync } from 'node:fs';
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
 * Adds the secrets in the folder SECRETS_DIR to the environment: one file per setting, with the setting's name. Returns one
 * line per fault.
 */
export function withSecretFiles(env: NodeJS.ProcessEnv): { given: NodeJS.ProcessEnv; faults: string[] } {
  const folder = env['SECRETS_DIR'];
  if (!folder) return { given: env, faults: [] };
  if (!existsSync(folder)) return { given: env, faults: ['SECRETS_DIR names a folder that does not exist'] };
  const given = { ...env };
  const faults: string[] = [];
  for (const name of SECRET_SETTINGS) {
    const file = readSecret(join(folder, name));
    if (file.fault) faults.push(`${name} cannot be read from SECRETS_DIR: ${file.fault}`);
    if (file.value === undefined) continue;
    if (env[name]) faults.push(`${name} is set and is also a file in SECRETS_DIR; remove one of them`);
    given[name] = file.value;
  }
  return { given, faults };
}

/** Returns the file's text without the final line break that editors add; nothing if there is no such file. */
function readSecret(path: string): { value?: string; fault?: string } {
  try {
    return { value: readFileSync(path, 'utf8').trimEnd() };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
