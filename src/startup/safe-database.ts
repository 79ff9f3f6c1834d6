import { commandLine } from '../config/commands.js';
import { ConfigError, type Config } from '../config/config.js';
import { withClient } from '../platform/db/connections/roles.js';
import { checkLogin } from '../platform/db/login-check/check-login.js';
import { checkSchema } from '../platform/db/schema-check/check-schema.js';
import { mayPass } from './await-server.js';
import { describeUnexamined, refuseUnexamined } from './own-databases.js';
import { findPublished } from './published-credentials.js';

/** The most differences of a schema that a start prints. */
const MAX_LINES = 20;

/**
 * Outside of development, refuses a database with published credentials, whose protections are not those of the migrations, whose
 * login has other rights than the service needs, or whose secrets need another key (docs/decisions/0067, 0068 and 0087).
 *
 * @throws ConfigError with one line per fault
 */
export async function assertSafe(config: Config, setting: string, url: string): Promise<void> {
  if (config.appEnv === 'development') return;
  const checks = await Promise.allSettled([
    describeLogin(url),
    describePublished(config, url),
    describeDifferences(url),
    describeUnreadable(config, url),
  ]);
  const [login] = checks;
  const found = checks.flatMap((check) => (check.status === 'fulfilled' ? check.value : []));
  const failures = checks.flatMap((check): unknown[] => (check.status === 'rejected' ? [check.reason] : []));
  // With wrong settings of the login, the others cannot read the database.
  const isWrong = login.status === 'fulfilled' && login.value.length > 0;
  const unexamined = isWrong ? [] : failures.map((failure) => describeUnexamined(setting, failure));
  const faults = [...new Set([...found, ...unexamined])];
  if (faults.length === 0) return;
  // What was found does not pass.
  const mayAllPass = found.length === 0 && failures.every(mayPass);
  throw new ConfigError(faults, mayAllPass ? { cause: failures[0] } : {});
}

const describePublished = (config: Config, url: string): Promise<string[]> =>
  withClient(url, async (client) => {
    const published = await findPublished(client, config);
    return published.map(({ message, remedy }) => `${message} ${remedy}`);
  });

/**
 * Refuses a second login of the service, for example that of DATABASE_DIRECT_URL.
 *
 * @throws ConfigError with one line per fault
 */
export async function assertSafeLogin(config: Config, setting: string, url: string): Promise<void> {
  if (config.appEnv === 'development') return;
  const faults = await describeLogin(url).catch(refuseUnexamined(setting));
  if (faults.length > 0) throw new ConfigError(faults);
}

/** Returns one line per protection that the database or its login has lost, with the remedy. */
export const findLostProtections = async (url: string): Promise<string[]> => [
  ...(await describeLogin(url)),
  ...(await describeDifferences(url)),
];

const describeLogin = async (url: string): Promise<string[]> => linesOf(await withClient(url, checkLogin));

async function describeDifferences(url: string): Promise<string[]> {
  const differences = (await withClient(url, checkSchema)) ?? [];
  const lines = linesOf(differences);
  const more = lines.length - MAX_LINES;
  if (more <= 0) return lines;
  return [...lines.slice(0, MAX_LINES), `${more} more differences are listed by ${commandLine('doctor')}.`];
}

const linesOf = (faults: { isDangerous: boolean; message: string; remedy: string }[]): string[] =>
  faults.filter(({ isDangerous }) => isDangerous).map(({ message, remedy }) => `${message} ${remedy}`);

/** Loads Prisma, which nothing else needs before the database is prepared (decision 0044). */
async function describeUnreadable(config: Config, url: string): Promise<string[]> {
  const { findUnreadable } = await import('./stored-ciphers.js');
  return findUnreadable(config, url);
}
