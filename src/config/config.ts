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
import { LEAST_CONNECTIONS, sizeServer } from './processes.js';
import { contradictions, missingForDeployment } from './settings-checks.js';
import { toTracing } from './tracing.js';

export type { TracingConfig } from './tracing.js';

/** The settings. docs/settings.md lists them with their formats and units. */
export type Config = ReturnType<typeof toConfig>;

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

export type TokenConfig = Config['tokens'];

export type SecretConfig = {
  /** 32-byte keys by version. The first key encrypts; all keys decrypt. */
  encryptionKeys: { version: string; key: Buffer }[];
  /** The HMAC key for looking up API keys, backup codes and preauth tokens. The key of the audit chain is derived from it. */
  lookupKey: Buffer;
};

export class ConfigError extends Error {
  /** @param options with the `cause` if the fault is a failure of the database, which may pass by itself */
  constructor(
    readonly faults: string[],
    options?: ErrorOptions,
  ) {
    super(faults.join('\n'), options);
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
  const { settings, faults, faulty, unread } = parseSettings(env);
  const usable = Object.fromEntries(Object.entries(env).filter(([name]) => !faulty.includes(name)));
  const config = toConfig(faulty.length > 0 ? parseSettings(usable).settings : settings);
  // Which settings are required depends on it.
  if (!env['APP_ENV']) return { config, faults: environmentFaults(env) };
  const more = [...missingForDeployment(settings), ...contradictions(settings)];
  // One line is enough for a setting that cannot be read. Nobody knows whether it is missing, or contradicts others.
  const known = new Set(faults.map(settingOf));
  const isOwn = (fault: string) => !known.has(settingOf(fault)) && !unread.some((name) => names(fault, name));
  return { config, faults: [...faults, ...more.filter(isOwn)] };
}

/** Returns the first word of a fault: the name of its setting. */
const settingOf = (fault: string): string => fault.split(' ', 1)[0] ?? '';

const names = (fault: string, setting: string): boolean => new RegExp(`\\b${setting}\\b`).test(fault);

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

function toConfig(settings: Settings) {
  const { APP_ENV, DATABASE_POOLER, DATABASE_URL, METRICS_PORT, TLS_CERT_FILE, TLS_KEY_FILE } = settings;
  const server = sizeServer({ processes: settings.API_PROCESSES, connections: settings.POOL_SIZE });
  return {
    appEnv: APP_ENV,
    host: settings.HOST,
    port: settings.PORT,
    /** The application's connection. If undefined, the embedded server under dataDir. */
    databaseUrl: DATABASE_URL,
    /** The schema owner's connection, for migrations. In development it defaults to databaseUrl, because migrations must bypass a pooler. */
    databaseOwnerUrl:
      settings.DATABASE_OWNER_URL ??
      (APP_ENV === 'development' && !DATABASE_POOLER ? DATABASE_URL : undefined),
    /** Whether a server or worker with the owner's connection applies missing migrations. */
    migratesAtStart: settings.MIGRATE_AT_START ?? APP_ENV === 'development',
    /** How long a migration waits for one of another process. */
    migrationWaitSeconds: settings.MIGRATION_WAIT_SECONDS,
    /** The mode of the connection pooler that databaseUrl leads to. If undefined, there is none. */
    databasePooler: DATABASE_POOLER,
    /** The application's connection that bypasses the pooler, for the queue. */
    databaseDirectUrl: settings.DATABASE_DIRECT_URL,
    /** The other databases that contain tenants. Requests reach all of them; jobs run in the one of databaseUrl. */
    cells: toCells(settings.DATABASE_CELLS),
    /** A standby that serves reports, and how long a report waits until it has replayed what was committed before. */
    databaseReplica: settings.DATABASE_REPLICA_URL
      ? { url: settings.DATABASE_REPLICA_URL, maxLagMs: settings.DATABASE_REPLICA_MAX_LAG_MS }
      : undefined,
    embeddedPostgres: !DATABASE_URL,
    dataDir: settings.DATA_DIR,
    /** The folder with a file per secret. If undefined, the secrets are variables. */
    secretsDir: settings.SECRETS_DIR,
    /** The number of processes of a server that serve requests. */
    apiProcesses: server.processes,
    /** The number of database connections of a server. Its processes share them. */
    poolSize: server.connections,
    logLevel: settings.LOG_LEVEL,
    tls: TLS_CERT_FILE && TLS_KEY_FILE ? { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE } : undefined,
    /** Addresses or CIDR blocks of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
    trustProxy: list(settings.TRUST_PROXY),
    /** The maximum number of open connections per client. If undefined, there is no limit. */
    maxConnectionsPerAddress: connectionsPerAddress(settings),
    tokens: {
      /** The `iss` and `aud` of tokens. It differs per deployment, so that production rejects tokens of staging. */
      deployment: settings.DEPLOYMENT ?? APP_ENV,
      /** The first key signs; all keys verify. */
      keys: pairs(settings.TOKEN_KEYS ?? DEVELOPMENT_SECRETS.TOKEN_KEYS).map(([id, secret]) => ({
        id,
        secret,
      })),
    },
    secrets: toSecrets(settings),
    /** The binary logarithm of bcrypt's rounds for new passwords. */
    passwordHashCost: settings.PASSWORD_HASH_COST,
    rateLimitPerMinute: settings.RATE_LIMIT_PER_MINUTE,
    /** URLs under which vulnerabilities are reported, for security.txt. */
    securityContacts: list(settings.SECURITY_CONTACT).map((contact) =>
      /^(mailto|https):/.test(contact) ? contact : `mailto:${contact}`,
    ),
    /** Per courier, for all operations that change customers together. */
    customerChangesPerDay: settings.CUSTOMER_CHANGES_PER_DAY,
    /** Per courier, and per user of the staff, in all that their requests write. */
    writtenBytesPerDay: settings.WRITTEN_MIB_PER_DAY * 1024 * 1024,
    mail: toMail(settings),
    /**
     * The page that a password reset mail links to. It contains {token} and may contain {tenant}. If undefined, the mail
     * contains only the token.
     */
    passwordResetUrl: settings.PASSWORD_RESET_URL,
    /**
     * The URL under which people reach the service, for links in mails to customers. It may contain {tenant}. If undefined, there are no
     * such mails.
     */
    publicUrl:
      settings.PUBLIC_URL ?? (APP_ENV === 'development' ? `http://localhost:${settings.PORT}` : undefined),
    outbound: toOutbound(settings),
    webhookRetrySeconds: list(settings.WEBHOOK_RETRY_SECONDS).map(Number),
    /** How long requests and responses of webhooks are kept. 0 keeps none. */
    webhookExchangeDays: settings.WEBHOOK_EXCHANGE_DAYS,
    /** How long calls of couriers' credentials are kept, 0 for not at all, and the share of the successful ones that is. */
    callLog: { days: settings.API_CALL_LOG_DAYS, percent: settings.API_CALL_LOG_PERCENT },
    worker: {
      /** Whether the server process also runs jobs. */
      inProcess: settings.RUN_WORKER,
      /** The maximum number of concurrent jobs. */
      concurrency: settings.WORKER_CONCURRENCY,
      /** The number of database connections of the jobs. */
      poolSize: settings.POOL_SIZE ?? LEAST_CONNECTIONS,
      /** The interval between heartbeats. After three missed heartbeats, other workers take over the jobs. */
      heartbeatSeconds: settings.WORKER_HEARTBEAT_SECONDS,
    },
    /** The address that serves metrics to Prometheus. If undefined, metrics are not served. */
    metrics: METRICS_PORT === undefined ? undefined : { host: settings.METRICS_HOST, port: METRICS_PORT },
    /** If undefined, nothing is traced. */
    tracing: toTracing(settings),
  };
}

const toMail = (settings: Settings): MailConfig => ({
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
});

const toOutbound = (settings: Settings): OutboundConfig => ({
  allowLoopback: settings.OUTBOUND_ALLOW_LOOPBACK,
  dnsServers: list(settings.OUTBOUND_DNS_SERVERS),
  ports: settings.OUTBOUND_PORTS === undefined ? undefined : list(settings.OUTBOUND_PORTS).map(Number),
  hosts: outboundHosts(settings),
  requestsPerSecond: settings.OUTBOUND_REQUESTS_PER_SECOND,
});

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
