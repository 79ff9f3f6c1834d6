import {
  DATABASE_URL_EXPECTED,
  DEVELOPMENT_SECRETS,
  isDatabaseUrl,
  list,
  parseSettings,
  type Settings,
} from './settings.js';
import { contradictions, missingForDeployment } from './settings-checks.js';

/** The only reader of the environment. Shapes and units are in the README's table of settings. */
export type Config = {
  appEnv: Settings['APP_ENV'];
  host: string;
  port: number;
  /** The application's connection; absent: the embedded server under dataDir. */
  databaseUrl: string | undefined;
  /** The schema owner's connection, for migrations; in development databaseUrl's role is taken for the owner. */
  databaseOwnerUrl: string | undefined;
  /** What stands between databaseUrl and PostgreSQL; absent: nothing. */
  databasePooler: 'transaction' | undefined;
  /** The application's connection past the pooler, for the queue. */
  databaseDirectUrl: string | undefined;
  embeddedPostgres: boolean;
  dataDir: string;
  poolSize: number;
  logLevel: string;
  tls: { certFile: string; keyFile: string } | undefined;
  /** Addresses or CIDR blocks whose X-Forwarded-For and X-Forwarded-Proto are believed. */
  trustProxy: string[];
  /** Connections that one client may have open; absent: any number. */
  maxConnectionsPerAddress: number | undefined;
  tokens: TokenConfig;
  secrets: SecretConfig;
  rateLimitPerMinute: number | undefined;
  /** Of one courier, by whatever way. */
  customerChangesPerDay: number;
  mail: MailConfig;
  /** The page that a reset mail links to, with {token} and perhaps {tenant} in it; absent: the mail holds the token alone. */
  passwordResetUrl: string | undefined;
  outbound: OutboundConfig;
  webhookRetrySeconds: number[];
  worker: WorkerConfig;
  /** Where Prometheus reads from; absent: nowhere. */
  metrics: { host: string; port: number } | undefined;
};

export type MailConfig = {
  from: string;
  /** Absent: mail is written to the outbox, a file each. */
  ses: { region: string; endpoint?: string } | undefined;
  outbox: string;
};

export type OutboundConfig = {
  /** Development: http, and hosts of this machine, may be called as well. */
  allowLoopback: boolean;
  /** `address` or `address:port`; none: the machine's own. */
  dnsServers: string[];
  /** The only ports that may be called; absent: all but those that browsers refuse. */
  ports?: number[] | undefined;
  /** Requests to one address in a process; absent: any number. */
  requestsPerSecond?: number | undefined;
};

export type WorkerConfig = {
  /** Whether a server works the queue beside serving. */
  inProcess: boolean;
  /** Jobs at once. */
  concurrency: number;
  /** How often a pool of workers says that it lives; after three it misses, others take its jobs. */
  heartbeatSeconds: number;
};

export type TokenConfig = {
  /** Names this deployment in a token's `iss` and `aud`: a staging token is worthless in production. */
  deployment: string;
  /** The first signs, all verify. */
  keys: { id: string; secret: string }[];
};

export type SecretConfig = {
  /** 32-byte keys by version; the first encrypts, all decrypt. */
  encryptionKeys: { version: string; key: Buffer }[];
  /** Keys the hashes by which API keys, backup codes and preauth tokens are looked up; the audit chain's key is made of it. */
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
 * @throws ConfigError with one line a fault
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { settings, faults } = parseSettings(env);
  faults.push(...missingForDeployment(settings), ...contradictions(settings));
  if (faults.length > 0) throw new ConfigError(faults);
  return toConfig(settings);
}

/**
 * The schema owner's connection, for the scripts that need nothing else of a deployment's settings.
 *
 * @throws ConfigError when neither setting is there, or the one that counts is no URL
 */
export function readOwnerUrl(env: NodeJS.ProcessEnv = process.env): string {
  const name = env['DATABASE_OWNER_URL'] ? 'DATABASE_OWNER_URL' : 'DATABASE_URL';
  const url = env[name];
  if (!url)
    throw new ConfigError(['Set DATABASE_OWNER_URL to a connection of the role that owns the tables']);
  if (!isDatabaseUrl(url)) throw new ConfigError([`${name} ${DATABASE_URL_EXPECTED}`]);
  return url;
}

/**
 * What a program that we start sees of our environment. Few variables, because /proc would show our secrets to the
 * account that runs it, and PGDATA or PGPORT would steer PostgreSQL.
 */
export function environmentOfPrograms(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH, SystemRoot, TEMP, TZ } = env;
  return { PATH, LD_LIBRARY_PATH, SystemRoot, TEMP, TZ };
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
      // migrations do not go through a pooler
      (settings.APP_ENV === 'development' && !settings.DATABASE_POOLER ? settings.DATABASE_URL : undefined),
    databasePooler: settings.DATABASE_POOLER,
    databaseDirectUrl: settings.DATABASE_DIRECT_URL,
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
    secrets: {
      encryptionKeys: pairs(settings.ENCRYPTION_KEYS ?? DEVELOPMENT_SECRETS.ENCRYPTION_KEYS).map(
        ([version, hex]) => ({
          version,
          key: Buffer.from(hex, 'hex'),
        }),
      ),
      lookupKey: Buffer.from(settings.LOOKUP_KEY ?? DEVELOPMENT_SECRETS.LOOKUP_KEY, 'hex'),
    },
    rateLimitPerMinute: settings.RATE_LIMIT_PER_MINUTE,
    customerChangesPerDay: settings.CUSTOMER_CHANGES_PER_DAY,
    mail: {
      from: settings.MAIL_FROM ?? 'crossdock@localhost',
      ses: settings.SES_REGION
        ? {
            region: settings.SES_REGION,
            ...(settings.SES_ENDPOINT ? { endpoint: settings.SES_ENDPOINT } : {}),
          }
        : undefined,
      outbox: settings.MAIL_OUTBOX ?? `${settings.DATA_DIR}/outbox`,
    },
    passwordResetUrl: settings.PASSWORD_RESET_URL,
    outbound: {
      allowLoopback: settings.OUTBOUND_ALLOW_LOOPBACK,
      dnsServers: list(settings.OUTBOUND_DNS_SERVERS),
      ports: settings.OUTBOUND_PORTS === undefined ? undefined : list(settings.OUTBOUND_PORTS).map(Number),
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
  };
}

/** A development machine tests itself, with thousands of connections from one address. */
const DEPLOYED_CONNECTIONS_PER_ADDRESS = 512;

function connectionsPerAddress({ APP_ENV, MAX_CONNECTIONS_PER_ADDRESS }: Settings): number | undefined {
  const usual = APP_ENV === 'development' ? 0 : DEPLOYED_CONNECTIONS_PER_ADDRESS;
  return (MAX_CONNECTIONS_PER_ADDRESS ?? usual) || undefined;
}

/** `a:b,c:d` as pairs; only the first colon of each divides. */
function pairs(value: string): [string, string][] {
  return value.split(',').map((item) => {
    const colon = item.indexOf(':');
    return [item.slice(0, colon), item.slice(colon + 1)];
  });
}
