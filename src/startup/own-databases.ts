import { identityOfProcess } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { ConfigError, type Config } from '../config/config.js';
import { withClient } from '../platform/db/connections/roles.js';
import { readDatabaseIdentity } from '../platform/db/connections/server-identity.js';
import { describeFailure } from '../platform/db/violations.js';
import type { Repeat } from './await-server.js';
import { assertOwnDatabase } from './database-owner.js';

/**
 * Checks each database of the settings, at the same time.
 *
 * @param ownerUrl the owner's, also of the embedded server
 * @throws ConfigError when another deployment uses one of them, a search_path hides the tables, or development must not use one
 */
export async function assertOwnDatabases(
  config: Config,
  ownerUrl: string | undefined,
  log: (line: string) => void,
  repeat: Repeat,
): Promise<void> {
  const urls: [setting: string, url: string | undefined][] = [
    ['DATABASE_OWNER_URL', ownerUrl],
    ['DATABASE_URL', config.databaseUrl],
    ['DATABASE_DIRECT_URL', config.databaseDirectUrl],
  ];
  const checked = new Set<string>();
  for (const [setting, url] of urls) {
    if (url === undefined || checked.has(url)) continue;
    checked.add(url);
    await repeat(setting, () => assertOwn(config, setting, url));
  }
  await repeat('DATABASE_URL', () => assertOneDatabase(config.databaseUrl, ownerUrl));
  await assertOwnReplica(config, log);
}

/** @throws ConfigError when the owner's connection, which applies the migrations, leads to another database */
async function assertOneDatabase(url: string | undefined, ownerUrl: string | undefined): Promise<void> {
  if (!url || !ownerUrl) return;
  if (!(await isOneDatabase(url, ownerUrl)))
    throw new ConfigError([
      'DATABASE_OWNER_URL leads to another database than DATABASE_URL. Correct one of them.',
    ]);
}

async function isOneDatabase(...urls: string[]): Promise<boolean> {
  const [one, other] = await Promise.all(urls.map((url) => withClient(url, readDatabaseIdentity)));
  return one === other;
}

/** @throws ConfigError when another deployment uses the database, or development must not */
export async function assertOwn(config: Config, setting: string, url: string): Promise<void> {
  const { embeddedPostgres: isOwn } = config;
  await assertOwnDatabase(url, identityOfProcess(config), {
    refusesUnknownTenants: true,
    refusesMaintenance: true,
    isOwn,
  }).catch((error: unknown) => {
    throw error instanceof ConfigError
      ? error
      : new ConfigError([`${setting}: ${messageOf(error)}.`], { cause: error });
  });
}

/**
 * Refuses a replica that is no copy of the database of DATABASE_URL, or that another deployment has used since it was copied. One that
 * cannot be examined prevents no start, because the primary serves what it does not. Each report compares again (replay.ts).
 */
async function assertOwnReplica(config: Config, log: (line: string) => void): Promise<void> {
  const { databaseUrl, databaseReplica } = config;
  if (!databaseUrl || !databaseReplica) return;
  const { url } = databaseReplica;
  try {
    if (!(await isOneDatabase(url, databaseUrl))) throw new ConfigError([OTHER_DATABASE]);
    await assertOwnDatabase(url, identityOfProcess(config), { isOwn: config.embeddedPostgres });
  } catch (error) {
    if (error instanceof ConfigError)
      throw new ConfigError(error.faults.map((fault) => `DATABASE_REPLICA_URL: ${fault}`));
    log(`DATABASE_REPLICA_URL: ${messageOf(error)}. Until it can be read, the primary serves reports.`);
  }
}

const OTHER_DATABASE =
  'It leads to another database than DATABASE_URL, so its reports would have the rows of others. ' +
  'Set it to a standby of the server of DATABASE_URL, with the same name of the database.';

/** Returns the line about a setting whose database cannot be examined. */
export const describeUnexamined = (setting: string, error: unknown): string =>
  `${setting}: ${messageOf(error)}. Run ${commandLine('doctor')}.`;

/** Returns a function that throws this line as a ConfigError. */
export const refuseUnexamined =
  (setting: string) =>
  (error: unknown): never => {
    throw new ConfigError([describeUnexamined(setting, error)], { cause: error });
  };

/** Without its last full stop, because a sentence follows. */
export const messageOf = (error: unknown): string => describeFailure(error).replace(/\.$/, '');
