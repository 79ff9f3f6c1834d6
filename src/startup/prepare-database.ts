import type pg from 'pg';
import { openSecrets, type Secrets } from '../platform/access/secrets.js';
import type { CellConfig } from '../config/cells.js';
import { ConfigError, type Config } from '../config/config.js';
import {
  startEmbeddedPostgres,
  type EmbeddedServer,
} from '../development/embedded-postgres/embedded-server.js';
import { describeFailure } from '../platform/db/violations.js';
import { listPending, nameMigrations } from '../platform/db/migrations/history.js';
import { migrate } from '../platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../platform/db/migrations/migration-files.js';
import { followServer, readPause } from '../platform/queue/outbound-pause.js';
import { poolerProblems } from '../platform/db/connections/pooler.js';
import {
  areTokenKeysNew,
  describeChangedKeys,
  describeDeployment,
  readDeployments,
  recordDeployment,
} from './deployment.js';
import { assertStorage, makeRepeat, type Repeat } from './await-server.js';
import { describeNewName, nameOf } from './database-owner.js';
import { assertOwn, assertOwnDatabases, messageOf, refuseUnexamined } from './own-databases.js';
import { assertSafe, assertSafeLogin } from './safe-database.js';
import {
  APP_ROLE,
  describeExcessPrivileges,
  readVersion,
  createServiceLogin,
  OLDEST_VERSION,
  withClient,
} from '../platform/db/connections/roles.js';
import { commandLine } from '../config/commands.js';

export type PreparedDatabase = {
  url: string;
  /** Set if the connection's own role has too many privileges for serving requests. */
  assumeRole?: string;
  /** Whether `url` leads to a connection pooler. */
  isBehindPooler: boolean;
  /** The application's connection that bypasses the pooler. */
  direct?: { url: string; assumeRole?: string };
  stop(): Promise<void>;
};

type Log = (line: string) => void;

/** Loads the demo data, unless the database contains others. The client is connected as the schema's owner. */
export type LoadDemo = (client: pg.ClientBase, secrets: Secrets, log: Log) => Promise<void>;

/**
 * Prepares the database: starts the embedded server if no URL is configured, applies migrations if the owner's URL is known and the
 * settings ask for it, and loads the demo data in development.
 *
 * @param runsJobs whether this process runs jobs, which needs a connection that bypasses a pooler
 * @param loadDemo given only in a clone of the repository
 * @throws ConfigError when the connection could bypass row-level security, migrations are missing, or the settings for a
 *   connection pooler are wrong
 */
export async function prepareDatabase(
  config: Config,
  log: Log,
  runsJobs: boolean,
  loadDemo?: LoadDemo,
): Promise<PreparedDatabase> {
  const embedded = config.databaseUrl ? undefined : await startEmbedded(config, log);
  const repeat = makeRepeat(log, config.databasePooler !== undefined);
  try {
    // Together, because each connection takes 20 ms.
    await Promise.all([
      assertReachable('DATABASE_URL', config.databaseUrl, repeat),
      assertReachable('DATABASE_OWNER_URL', config.databaseOwnerUrl, repeat),
      assertReachable('DATABASE_DIRECT_URL', config.databaseDirectUrl, repeat),
    ]);
    await repeat('DATABASE_URL', () => assertPoolerSettings(config, runsJobs));
    const ownerUrl = embedded?.url ?? config.databaseOwnerUrl;
    // Before anything is written.
    await assertOwnDatabases(config, ownerUrl, log, repeat);
    // Nothing else can migrate the embedded server.
    const migrates = ownerUrl !== undefined && (config.migratesAtStart || embedded !== undefined);
    if (migrates) await repeat('DATABASE_OWNER_URL', () => migrateAtStart(config, ownerUrl, log));
    if (ownerUrl && loadDemo && config.appEnv === 'development')
      await repeat('DATABASE_OWNER_URL', () =>
        withClient(ownerUrl, (client) => loadDemo(client, openSecrets(config.secrets), log)),
      );
    const url = embedded
      ? await createServiceLogin(embedded.url, embedded.servicePassword)
      : (config.databaseUrl ?? '');
    if (!migrates) await repeat('DATABASE_URL', () => assertMigrated(url, ownerUrl));
    const [, role] = await allOrFaults([
      repeat('DATABASE_URL', () => assertSafe(config, 'DATABASE_URL', url))
        .then(() => repeat('DATABASE_URL', () => assertStores(url)))
        .then(() => repeat('DATABASE_URL', () => recordUse(config, url, log))),
      repeat('DATABASE_URL', () => roleToAssume(config, 'DATABASE_URL', url)),
    ]);
    const { databaseDirectUrl: directUrl } = config;
    return {
      url,
      ...role,
      isBehindPooler: config.databasePooler !== undefined,
      ...(directUrl
        ? { direct: await repeat('DATABASE_DIRECT_URL', () => openDirect(config, directUrl)) }
        : {}),
      stop: async () => embedded?.stop(),
    };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

/**
 * Checks the database of another cell as that of DATABASE_URL, which its own deployment prepares.
 *
 * @throws ConfigError when it is unavailable or lacks migrations, or the connection could bypass row-level security
 */
export async function prepareCell(
  config: Config,
  { name, url }: CellConfig,
  log: Log,
): Promise<Pick<PreparedDatabase, 'url' | 'assumeRole'>> {
  const setting = `DATABASE_CELLS (${name})`;
  // A request that looks for its tenant waits for it, so nothing is repeated here.
  await assertVersion(setting, url);
  await assertOwn(config, setting, url);
  await assertMigrated(url);
  const role = await roleToAssume(config, setting, url);
  await assertSafe(config, setting, url);
  await recordUse(config, url, log);
  return { url, ...role };
}

async function startEmbedded({ dataDir }: Config, log: Log): Promise<EmbeddedServer> {
  try {
    return await startEmbeddedPostgres({ dataDir, database: 'crossdock', log });
  } catch (error) {
    // The error's messages say what the operator must do.
    throw new ConfigError([messageOf(error)]);
  }
}

async function assertReachable(setting: string, url: string | undefined, repeat: Repeat): Promise<void> {
  if (url) await repeat(setting, () => assertVersion(setting, url));
}

async function assertVersion(setting: string, url: string): Promise<void> {
  const version = await readVersion(url).catch((error: unknown) => {
    throw new ConfigError([`${setting}: ${messageOf(error)}`], { cause: error });
  });
  if (version < OLDEST_VERSION)
    throw new ConfigError([
      `${setting}: PostgreSQL ${OLDEST_VERSION} or newer is needed, this is ${version}`,
    ]);
}

/** Runs checks at the same time. @throws ConfigError with the faults of all of them, in their order */
async function allOrFaults<One, Other>(checks: [Promise<One>, Promise<Other>]): Promise<[One, Other]> {
  const settled = await Promise.allSettled(checks);
  const reasons = settled.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []));
  const faults = reasons.flatMap((reason) => (reason instanceof ConfigError ? reason.faults : []));
  if (faults.length > 0) throw new ConfigError(faults);
  return Promise.all(checks);
}

/** @throws ConfigError when a migration fails, or another process migrates for longer than the limit */
async function migrateAtStart({ migrationWaitSeconds }: Config, ownerUrl: string, log: Log): Promise<void> {
  const options = { waitSeconds: migrationWaitSeconds, log };
  const applied = await migrate(ownerUrl, MIGRATIONS, options).catch((error: unknown) => {
    throw new ConfigError([describeFailure(error)], { cause: error });
  });
  if (applied.length > 0) log(`Applied migrations: ${applied.join(', ')}`);
}

/** @param owner whether this process could have applied them */
async function assertMigrated(url: string, owner?: string): Promise<void> {
  const pending = await withClient(url, (client) => listPending(client, MIGRATIONS)).catch(
    refuseUnexamined('DATABASE_URL'),
  );
  if (pending.length === 0) return;
  throw new ConfigError([
    `The database lacks ${nameMigrations(pending)}: run ${commandLine('migrate')} with DATABASE_OWNER_URL set${
      owner ? '. A server or worker applies migrations only with MIGRATE_AT_START=true' : ''
    }`,
  ]);
}

const NEW_TOKEN_KEYS =
  'No key of TOKEN_KEYS was given at the last start, so everybody must log in again. If the keys were not replaced on purpose, the setting is that of another deployment.';

/**
 * A process that only reads would be ready until its first write.
 *
 * @throws ConfigError when the disk of the database is full, or the database is read-only
 */
async function assertStores(url: string): Promise<void> {
  await assertStorage(url).catch(refuseUnexamined('DATABASE_URL'));
}

/** For npm run doctor, which finds a database or a secret that two deployments share. Finds out whether a backup was restored. */
async function recordUse(config: Config, url: string, log: Log): Promise<void> {
  await withClient(url, async (client) => {
    const deployment = describeDeployment(config);
    // Other environments have refused them already.
    const recorded = await readDeployments(client);
    const changed = describeChangedKeys(recorded, deployment);
    if (changed) log(changed);
    if (areTokenKeysNew(recorded, deployment)) log(NEW_TOKEN_KEYS);
    const newName = describeNewName(recorded, deployment, await nameOf(client));
    if (newName) log(newName);
    await recordDeployment(client, deployment);
    // A provider of PostgreSQL may not allow these functions. Then the operator pauses by hand.
    await followServer(client).catch((error: unknown) => log(`The server is unknown: ${messageOf(error)}`));
    const pause = await readPause(client);
    if (pause) log(`Outbound work is paused since ${pause.since.toISOString()}: ${pause.reason}`);
  }).catch(refuseUnexamined('DATABASE_URL'));
}

async function assertPoolerSettings(config: Config, runsJobs: boolean): Promise<void> {
  const { databaseUrl: url, databaseOwnerUrl: ownerUrl, databaseDirectUrl: directUrl } = config;
  if (!url) return;
  const urls = { url, ownerUrl, directUrl, pooler: config.databasePooler, runsJobs };
  const problems = await poolerProblems(urls).catch((error: unknown) => {
    throw new ConfigError([`DATABASE_URL: ${messageOf(error)}`], { cause: error });
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

async function openDirect(config: Config, url: string): Promise<{ url: string; assumeRole?: string }> {
  const role = await roleToAssume(config, 'DATABASE_DIRECT_URL', url);
  await assertSafeLogin(config, 'DATABASE_DIRECT_URL', url);
  return { url, ...role };
}

/**
 * Returns the role to switch to if the connection could bypass row-level security. This is for development only; otherwise,
 * and behind a pooler, which does not keep a session's role, it throws.
 */
async function roleToAssume(config: Config, setting: string, url: string): Promise<{ assumeRole?: string }> {
  const excess = await describeExcessPrivileges(url);
  if (!excess) return {};
  const keepsRole = setting === 'DATABASE_DIRECT_URL' || !config.databasePooler;
  if (config.appEnv === 'development' && keepsRole) return { assumeRole: APP_ROLE };
  throw new ConfigError([
    `${setting} must not be able to bypass row-level security, but ${excess}; grant ${APP_ROLE} to a role of its own`,
  ]);
}
