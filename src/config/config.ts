import {
  DATABASE_URL_EXPECTED,
  DEVELOPMENT_SECRETS,
  environmentFaults,
  isDatabaseUrl,
  list,
  parseSettings,
  type Settings,
} from './settings.js';
import { toCells, toOwnerCells, type CellConfig } from './cells.js';
import { withSecretFiles } from './secret-files.js';
import { contradictions, missingForDeployment } from './settings-checks.js';
import { toTracing, type TracingConfig } from './tracing.js';

export type { TracingConfig } from './tracing.js';

/** The settings. docs/settings.md lists them with their formats and units. */
export type Config = {
  appEnv: Settings['APP_ENV'];
  host: string;
  port: number;
  /** The application's connection. If undefined, the embedded server under dataDir. */
  databaseUrl: string | undefined;
  /** The schema owner's connection, for migrations. In development it defaults to databaseUrl. */
  databaseOwnerUrl: string | undefined;
  /** Whether a server or worker with the owner's connection applies missing migrations. */
  migratesAtStart: boolean;
  /** How long a migration waits for one of another process. */
  migrationWaitSeconds: number;
  /** The mode of the connection pooler that databaseUrl leads to. If undefined, there is none. */
  databasePooler: 'transaction' | undefined;
  /** The application's connection that bypasses the pooler, for the queue. */
  databaseDirectUrl: string | undefined;
  /** The other databases that contain tenants. Requests reach all of them; jobs run in the one of databaseUrl. */
  cells: CellConfig[];
  /** A standby that serves reports. */
  databaseReplica: ReplicaConfig | undefined;
  embeddedPostgres: boolean;
  dataDir: string;
  poolSize: number;
  logLevel: string;
  tls: { certFile: string; keyFile: string } | undefined;
  /** Addresses or CIDR blocks of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  trustProxy: string[];
  /** The maximum number of open connections per client. If undefined, there is no limit. */
  maxConnectionsPerAddress: number | undefined;
  tokens: TokenConfig;
  secrets: SecretConfig;
  /** The binary logarithm of bcrypt's rounds for new passwords. */
  passwordHashCost: number;
  rateLimitPerMinute: number | undefined;
  /** URLs under which vulnerabilities are reported, for security.txt. */
  securityContacts: string[];
  /** Per courier, for all operations that change customers together. */
  customerChangesPerDay: number;
  mail: MailConfig;
  /**
   * The page that a password reset mail links to. It contains {token} and may contain {tenant}. If undefined, the mail
   * contains only the token.
   */
  passwordResetUrl: string | undefined;
  outbound: OutboundConfig;
  webhookRetrySeconds: number[];
  worker: WorkerConfig;
  /** The address that serves metrics to Prometheus. If undefined, metrics are not served. */
  metrics: { host: string; port: number } | undefined;
  /** If undefined, nothing is traced. */
  tracing: TracingConfig | undefined;
};

export type MailConfig = {
  from: string;
  /** If undefined, each mail is written to a file in the outbox. */
  ses: SesConfig | undefined;
  outbox: string;
  /** The only recipients. If undefined, there is no restriction. */
  recipients?: MailRecipients | undefined;
};

export type SesConfig = {
  region: string;
  endpoint?: string;
  /** If undefined, the SDK finds them: a profile, or the role of the machine or the pod. */
  credentials?: AwsCredentials | undefined;
};

type AwsCredentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string };

/** Staging mails only these: the database may be a copy of production's. */
export type MailRecipients = {
  /** The address that gets every mail for another recipient. If undefined, such mail is not sent. */
  otherwiseTo: string | undefined;
  /** The domains whose addresses get their mail, in lower case. */
  domains: string[];
};

export type OutboundConfig = {
  /** Also allows http and loopback hosts. Only for development. */
  allowLoopback: boolean;
  /** `address` or `address:port`. If empty, the DNS servers of the operating system are used. */
  dnsServers: string[];
  /** The allowed ports. If undefined, all ports except those that browsers block. */
  ports?: number[] | undefined;
  /** The only hosts: `hooks.example.com`, or `*.example.com` for its subdomains. If undefined, there is no restriction. */
  hosts?: string[] | undefined;
  /** The rate limit per destination address and process. If undefined, there is no limit. */
  requestsPerSecond?: number | undefined;
};

type ReplicaConfig = {
  url: string;
  /** How long a report waits until the standby has replayed what was committed before it. */
  maxLagMs: number;
};

type WorkerConfig = {
  /** Whether the server process also runs jobs. */
  inProcess: boolean;
  /** The maximum number of concurrent jobs. */
  concurrency: number;
  /** The interval between heartbeats. After three missed heartbeats, other workers take over the jobs. */
  heartbeatSeconds: number;
};

export type TokenConfig = {
  /** The `iss` and `aud` of tokens. It differs per deployment, so that production rejects tokens of staging. */
  deployment: string;
  /** The first key signs; all keys verify. */
  keys: { id: string; secret: string }[];
};

export type SecretConfig = {
  /** 32-byte keys by version. The first key encrypts; all keys decrypt. */
  encryptionKeys: { version: string; key: Buffer }[];
  /** The HMAC key for looking up API keys, backup codes and preauth tokens. The key of the audit chain is derived from it. */
  lookupKey: Buffer;
};

export class ConfigError extends Error {
  constructor(readonly faults: string[]) {
    super(faults.join('\n'));
  }
}

/**
 * Reads and checks the settings.
 *
 * @throws ConfigError with one line per fault
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { config, faults } = surveyConfig(env);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** Reads the settings for an inspection: one line per fault, and the settings without those that cannot be read. */
export function surveyConfig(env: NodeJS.ProcessEnv = process.env): { config: Config; faults: string[] } {
  const { settings, faults, faulty } = parseSettings(env);
  const usable = Object.fromEntries(Object.entries(env).filter(([name]) => !faulty.includes(name)));
  const config = toConfig(faulty.length > 0 ? parseSettings(usable).settings : settings);
  // Which settings are required depends on it.
  if (!env['APP_ENV']) return { config, faults: environmentFaults(env) };
  return { config, faults: [...faults, ...missingForDeployment(settings), ...contradictions(settings)] };
}

/** Returns the given settings with the secrets in files. @throws ConfigError when a file, or APP_ENV, is missing or faulty */
export function readGiven(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { given, faults } = withSecretFiles(env);
  const all = [...environmentFaults(env), ...faults];
  if (all.length > 0) throw new ConfigError(all);
  return given;
}

/**
 * Returns the URL of the schema owner's connection, for scripts that need no other settings.
 *
 * @throws ConfigError when APP_ENV is missing, when DATABASE_OWNER_URL and DATABASE_URL are missing, or the one in use is not a URL
 */
export const readOwnerUrl = (env: NodeJS.ProcessEnv = process.env): string => readOwner(env).url;

/** Returns the URL of the schema owner's connection as `readOwnerUrl`, and the setting that has it. */
export function readOwner(env: NodeJS.ProcessEnv = process.env): { url: string; setting: string } {
  const given = readGiven(env);
  const name = given['DATABASE_OWNER_URL'] ? 'DATABASE_OWNER_URL' : 'DATABASE_URL';
  const url = given[name];
  if (!url)
    throw new ConfigError(['Set DATABASE_OWNER_URL to a connection of the role that owns the tables']);
  if (!isDatabaseUrl(url)) throw new ConfigError([`${name} ${DATABASE_URL_EXPECTED}`]);
  return { url, setting: name };
}

/**
 * Returns the cost of password hashes, for scripts that need no other settings.
 *
 * @throws ConfigError when PASSWORD_HASH_COST is not a possible cost
 */
export function readPasswordHashCost(env: NodeJS.ProcessEnv = process.env): number {
  const { config, faults } = surveyConfig(env);
  const own = faults.filter((fault) => fault.startsWith('PASSWORD_HASH_COST'));
  if (own.length > 0) throw new ConfigError(own);
  return config.passwordHashCost;
}

/**
 * Returns the settings of npm run migrate.
 *
 * @throws ConfigError as `readOwnerUrl`, or when MIGRATION_WAIT_SECONDS is faulty
 */
export function readMigrationSettings(env: NodeJS.ProcessEnv = process.env): {
  url: string;
  waitSeconds: number;
} {
  const url = readOwnerUrl(env);
  const { APP_ENV, MIGRATION_WAIT_SECONDS: given } = env;
  const { settings, faults } = parseSettings({
    APP_ENV,
    ...(given ? { MIGRATION_WAIT_SECONDS: given } : {}),
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return { url, waitSeconds: settings.MIGRATION_WAIT_SECONDS };
}

/**
 * Returns the owner's connection of every cell by its name, for npm run tenant:move.
 *
 * @throws Error when one is missing or not a URL
 */
export function readOwnerCells(env: NodeJS.ProcessEnv = process.env): Map<string, string> {
  return toOwnerCells(readGiven(env));
}

/**
 * Returns the owner's connections of the other cells. Empty without DATABASE_OWNER_CELLS.
 *
 * @throws Error when one is not a URL
 */
export function readOtherOwnerCells(env: NodeJS.ProcessEnv = process.env): CellConfig[] {
  const given = readGiven(env);
  if (!given['DATABASE_OWNER_CELLS']) return [];
  const [, ...others] = toOwnerCells(given);
  return others.map(([name, url]) => ({ name, url }));
}

/**
 * Returns the environment for child processes. It omits most variables: the account that runs the child could read our
 * secrets in /proc, and PGDATA or PGPORT would configure PostgreSQL.
 */
export function environmentOfPrograms(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH, SystemRoot, TEMP, TZ } = env;
  return { PATH, LD_LIBRARY_PATH, SystemRoot, TEMP, TZ };
}

/**
 * On Node 20, the AWS SDK warns that its later versions need Node 22. A release contains one version of it, so operators cannot act on
 * that. The SDK reads only this variable.
 */
export function silenceSdkWarning(env: NodeJS.ProcessEnv = process.env): void {
  env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
}

function toConfig(settings: Settings): Config {
  const tls =
    settings.TLS_CERT_FILE && settings.TLS_KEY_FILE
      ? { certFile: settings.TLS_CERT_FILE, keyFile: settings.TLS_KEY_FILE }
      : undefined;
  return {
    appEnv: settings.APP_ENV,
    host: settings.HOST,
    port: settings.PORT,
    databaseUrl: settings.DATABASE_URL,
    databaseOwnerUrl:
      settings.DATABASE_OWNER_URL ??
      // Migrations must bypass a pooler.
      (settings.APP_ENV === 'development' && !settings.DATABASE_POOLER ? settings.DATABASE_URL : undefined),
    migratesAtStart: settings.MIGRATE_AT_START ?? settings.APP_ENV === 'development',
    migrationWaitSeconds: settings.MIGRATION_WAIT_SECONDS,
    databasePooler: settings.DATABASE_POOLER,
    databaseDirectUrl: settings.DATABASE_DIRECT_URL,
    cells: toCells(settings.DATABASE_CELLS),
    databaseReplica: settings.DATABASE_REPLICA_URL
      ? { url: settings.DATABASE_REPLICA_URL, maxLagMs: settings.DATABASE_REPLICA_MAX_LAG_MS }
      : undefined,
    embeddedPostgres: !settings.DATABASE_URL,
    dataDir: settings.DATA_DIR,
    poolSize: settings.POOL_SIZE,
    logLevel: settings.LOG_LEVEL,
    tls,
    trustProxy: list(settings.TRUST_PROXY),
    maxConnectionsPerAddress: connectionsPerAddress(settings),
    tokens: {
      deployment: settings.DEPLOYMENT ?? settings.APP_ENV,
      keys: pairs(settings.TOKEN_KEYS ?? DEVELOPMENT_SECRETS.TOKEN_KEYS).map(([id, secret]) => ({
        id,
        secret,
      })),
    },
    secrets: toSecrets(settings),
    passwordHashCost: settings.PASSWORD_HASH_COST,
    rateLimitPerMinute: settings.RATE_LIMIT_PER_MINUTE,
    securityContacts: list(settings.SECURITY_CONTACT).map((contact) =>
      /^(mailto|https):/.test(contact) ? contact : `mailto:${contact}`,
    ),
    customerChangesPerDay: settings.CUSTOMER_CHANGES_PER_DAY,
    mail: {
      from: settings.MAIL_FROM ?? 'crossdock@localhost',
      ses: settings.SES_REGION
        ? {
            region: settings.SES_REGION,
            ...(settings.SES_ENDPOINT ? { endpoint: settings.SES_ENDPOINT } : {}),
            credentials: awsCredentials(settings),
          }
        : undefined,
      outbox: settings.MAIL_OUTBOX ?? `${settings.DATA_DIR}/outbox`,
      recipients: mailRecipients(settings),
    },
    passwordResetUrl: settings.PASSWORD_RESET_URL,
    outbound: {
      allowLoopback: settings.OUTBOUND_ALLOW_LOOPBACK,
      dnsServers: list(settings.OUTBOUND_DNS_SERVERS),
      ports: settings.OUTBOUND_PORTS === undefined ? undefined : list(settings.OUTBOUND_PORTS).map(Number),
      hosts: outboundHosts(settings),
      requestsPerSecond: settings.OUTBOUND_REQUESTS_PER_SECOND,
    },
    webhookRetrySeconds: list(settings.WEBHOOK_RETRY_SECONDS).map(Number),
    worker: {
      inProcess: settings.RUN_WORKER,
      concurrency: settings.WORKER_CONCURRENCY,
      heartbeatSeconds: settings.WORKER_HEARTBEAT_SECONDS,
    },
    metrics:
      settings.METRICS_PORT === undefined
        ? undefined
        : { host: settings.METRICS_HOST, port: settings.METRICS_PORT },
    tracing: toTracing(settings),
  };
}

/** Returns the keys of the settings. A missing one is the public key of development. */
export function toSecrets({
  ENCRYPTION_KEYS,
  LOOKUP_KEY,
}: Partial<Pick<Settings, 'ENCRYPTION_KEYS' | 'LOOKUP_KEY'>>): SecretConfig {
  return {
    encryptionKeys: pairs(ENCRYPTION_KEYS ?? DEVELOPMENT_SECRETS.ENCRYPTION_KEYS).map(([version, hex]) => ({
      version,
      key: Buffer.from(hex, 'hex'),
    })),
    lookupKey: Buffer.from(LOOKUP_KEY ?? DEVELOPMENT_SECRETS.LOOKUP_KEY, 'hex'),
  };
}

/** The public keys of development, which no other environment accepts. */
export const DEVELOPMENT_KEYS: SecretConfig = toSecrets({});

/** A development machine tests itself, with thousands of connections from one address. */
const DEPLOYED_CONNECTIONS_PER_ADDRESS = 512;

function connectionsPerAddress({ APP_ENV, MAX_CONNECTIONS_PER_ADDRESS }: Settings): number | undefined {
  const usual = APP_ENV === 'development' ? 0 : DEPLOYED_CONNECTIONS_PER_ADDRESS;
  return (MAX_CONNECTIONS_PER_ADDRESS ?? usual) || undefined;
}

/** Without SES and without a setting, staging writes every mail to a file, which reaches nobody. */
function mailRecipients(settings: Settings): MailRecipients | undefined {
  const { APP_ENV, SES_REGION, STAGING_MAIL_TO: otherwiseTo, STAGING_MAIL_DOMAINS } = settings;
  if (APP_ENV !== 'staging' || !(SES_REGION || otherwiseTo || STAGING_MAIL_DOMAINS)) return undefined;
  return { otherwiseTo, domains: lowerCaseList(STAGING_MAIL_DOMAINS) };
}

function awsCredentials(settings: Settings): AwsCredentials | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  if (!accessKeyId || !secretAccessKey) return undefined;
  const sessionToken = settings.AWS_SESSION_TOKEN;
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

/** Staging calls no host that is not listed, because its database may be a copy of production's. */
function outboundHosts({ APP_ENV, OUTBOUND_HOSTS }: Settings): string[] | undefined {
  return OUTBOUND_HOSTS === undefined && APP_ENV !== 'staging' ? undefined : lowerCaseList(OUTBOUND_HOSTS);
}

const lowerCaseList = (value: string | undefined) => list(value?.toLowerCase());

/** `a:b,c:d` as pairs; only the first colon of each divides. */
function pairs(value: string): [string, string][] {
  return value.split(',').map((item) => {
    const colon = item.indexOf(':');
    return [item.slice(0, colon), item.slice(colon + 1)];
  });
}
