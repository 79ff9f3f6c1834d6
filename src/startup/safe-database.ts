import { commandLine } from '../config/commands.js';
import { ConfigError, type Config } from '../config/config.js';
import { withClient } from '../platform/db/connections/roles.js';
import { checkSchema } from '../platform/db/schema-check/check-schema.js';
import { findObstacleToDevelopment } from './real-data.js';
import { findForeignKeys } from './foreign-keys.js';
import { findPublished } from './published-credentials.js';

/** The most differences of a schema that a start prints. */
const MAX_LINES = 20;

/**
 * Outside of development, refuses a database with published credentials, or whose protections are not those of the migrations
 * (docs/decisions/0067 and 0068).
 *
 * @throws ConfigError with one line per fault
 */
export async function assertSafe(config: Config, setting: string, url: string): Promise<void> {
  if (config.appEnv === 'development') return;
  const findings = await Promise.all([describePublished(config, url), describeDifferences(url)]).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ConfigError([`${setting}: ${reason}. Run ${commandLine('doctor')}.`]);
    },
  );
  const faults = findings.flat();
  if (faults.length > 0) throw new ConfigError(faults);
}

/**
 * In development, refuses a database that may contain real data.
 *
 * @throws ConfigError with one line
 */
export async function assertForDevelopment(config: Config, setting: string, url: string): Promise<void> {
  if (config.appEnv !== 'development') return;
  const obstacle = await withClient(url, (client) =>
    findObstacleToDevelopment(client, config.embeddedPostgres),
  ).catch((error: unknown) => `${setting}: ${error instanceof Error ? error.message : String(error)}.`);
  if (obstacle) throw new ConfigError([obstacle]);
}

const describePublished = (config: Config, url: string): Promise<string[]> =>
  withClient(url, async (client) => {
    const published = await findPublished(client, config);
    if (published.length > 0) return published.map(({ message, remedy }) => `${message} ${remedy}`);
    const foreign = await findForeignKeys(client, config);
    return foreign ? [foreign] : [];
  });

async function describeDifferences(url: string): Promise<string[]> {
  const differences = (await withClient(url, checkSchema)) ?? [];
  const lines = differences
    .filter(({ isDangerous }) => isDangerous)
    .map(({ message, remedy }) => `${message} ${remedy}`);
  const more = lines.length - MAX_LINES;
  if (more <= 0) return lines;
  return [...lines.slice(0, MAX_LINES), `${more} more differences are listed by ${commandLine('doctor')}.`];
}
