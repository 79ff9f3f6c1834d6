import { existsSync } from 'node:fs';
import { withSecretFiles } from '../../config/secret-files.js';
import { findLocation, hasCluster } from '../../development/embedded-postgres/location.js';

const KEYS = ['TOKEN_KEYS', 'ENCRYPTION_KEYS', 'LOOKUP_KEY'];

/** Returns one line if there is nothing to examine, because the settings of the service are missing. Creates nothing. */
export async function describeMissingSettings(
  env: NodeJS.ProcessEnv,
  dataDir: string,
): Promise<string | undefined> {
  const { given, faults, unread } = withSecretFiles(env);
  if (given['DATABASE_URL'] || given['EMBEDDED_POSTGRES']) return undefined;
  const advice = 'Run it with the settings of the service, SECRETS_DIR or its files included.';
  if (given['APP_ENV'] === 'development')
    return (await hasEmbeddedCluster(dataDir))
      ? undefined
      : `There is nothing to examine: DATABASE_URL is not set, and ${dataDir} contains no embedded database. ${advice} In a clone: Run npm start once.`;
  if (unread.includes('DATABASE_URL'))
    return `There is nothing to examine, because DATABASE_URL is not known. ${faults.join('. ')}.`;
  if (KEYS.some((name) => given[name])) return undefined;
  const missing = ['APP_ENV', 'DATABASE_URL', ...KEYS].filter((name) => !given[name]);
  return `There is nothing to examine: ${missing.join(', ')} are not set. ${advice}`;
}

export const hasEmbeddedCluster = async (dataDir: string): Promise<boolean> =>
  existsSync(dataDir) && (await hasCluster(await findLocation(dataDir)));
