import { join } from 'node:path';
import { openSecrets } from '../auth/secrets.js';
import { ConfigError, type Config } from '../config.js';
import { seedDemo } from '../demo/seed.js';
import { projectRoot } from '../root.js';
import { analyzeFilled } from './analyze.js';
import { startEmbeddedPostgres, type EmbeddedServer } from './embedded.js';
import { listPending, migrate } from './migrate.js';
import { APP_ROLE, describeExcessPower, makeServiceLogin, readVersion, withClient } from './roles.js';

export const MIGRATIONS = join(projectRoot, 'prisma', 'migrations');

export type PreparedDatabase = {
  url: string;
  /** Set where the connection's own role may do too much for serving. */
  assumeRole?: string;
  stop(): Promise<void>;
};

type Log = (line: string) => void;

// the oldest that the suite is run against
const OLDEST_VERSION = 15;

/**
 * A database ready to serve from: started when it is the embedded one, migrated when the owner's connection is
 * known, with demo data when it is empty and this is development.
 *
 * @throws ConfigError when the connection could bypass row-level security, or migrations are missing
 */
export async function prepareDatabase(config: Config, log: Log): Promise<PreparedDatabase> {
  const embedded = config.databaseUrl ? undefined : await startEmbedded(config, log);
  try {
    if (config.databaseUrl) await assertReachable('DATABASE_URL', config.databaseUrl);
    if (config.databaseOwnerUrl) await assertReachable('DATABASE_OWNER_URL', config.databaseOwnerUrl);
    const ownerUrl = embedded?.url ?? config.databaseOwnerUrl;
    if (ownerUrl) await bringUpToDate(config, ownerUrl, log);
    const url = embedded
      ? await makeServiceLogin(embedded.url, embedded.servicePassword)
      : (config.databaseUrl ?? '');
    if (!ownerUrl) await refuseUnmigrated(url);
    const assumeRole = await roleToAssume(config, url);
    return { url, ...(assumeRole ? { assumeRole } : {}), stop: async () => embedded?.stop() };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

async function startEmbedded({ dataDir }: Config, log: Log): Promise<EmbeddedServer> {
  try {
    return await startEmbeddedPostgres({ dataDir, database: 'crossdock', log });
  } catch (error) {
    // its errors are written for whoever starts us
    throw new ConfigError([messageOf(error)]);
  }
}

async function assertReachable(setting: string, url: string): Promise<void> {
  const version = await readVersion(url).catch((error: unknown) => {
    throw new ConfigError([`${setting}: ${messageOf(error)}`]);
  });
  if (version < OLDEST_VERSION)
    throw new ConfigError([
      `${setting}: PostgreSQL ${OLDEST_VERSION} or newer is needed, this is ${version}`,
    ]);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function bringUpToDate(config: Config, ownerUrl: string, log: Log): Promise<void> {
  const applied = await migrate(ownerUrl, MIGRATIONS);
  if (applied.length > 0) log(`Applied migrations: ${applied.join(', ')}`);
  if (config.appEnv !== 'development') return;
  await withClient(ownerUrl, async (client) => {
    if (!(await seedDemo(client, openSecrets(config.secrets), new Date()))) return;
    await analyzeFilled(client);
    log('Loaded the demo data.');
  });
}

async function refuseUnmigrated(url: string): Promise<void> {
  const pending = await withClient(url, (client) => listPending(client, MIGRATIONS));
  if (pending.length === 0) return;
  throw new ConfigError([
    `The database lacks ${pending.join(', ')}: run npm run migrate with DATABASE_OWNER_URL set`,
  ]);
}

/** In development a powerful connection steps down to the application's role; elsewhere it is refused. */
async function roleToAssume(config: Config, url: string): Promise<string | undefined> {
  const excess = await describeExcessPower(url);
  if (!excess) return undefined;
  if (config.appEnv === 'development') return APP_ROLE;
  throw new ConfigError([
    `DATABASE_URL must not be able to bypass row-level security, but ${excess}; grant ${APP_ROLE} to a role of its own`,
  ]);
}
