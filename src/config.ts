import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { Ajv } from 'ajv';

/** The only reader of the environment. Shapes and units are in the README's table of settings. */
export type Config = {
  appEnv: 'development' | 'staging' | 'production';
  host: string;
  port: number;
  /** The application's connection; absent: the embedded server under dataDir. */
  databaseUrl: string | undefined;
  /** The schema owner's connection, for migrations; in development databaseUrl's role is taken for the owner. */
  databaseOwnerUrl: string | undefined;
  embeddedPostgres: boolean;
  dataDir: string;
  poolSize: number;
  logLevel: string;
  tls: { certFile: string; keyFile: string } | undefined;
  /** Addresses or CIDR blocks whose X-Forwarded-* headers are believed. */
  trustProxy: string[];
  tokens: TokenConfig;
  secrets: SecretConfig;
  rateLimitPerMinute: number | undefined;
  mailOutbox: string;
  outboundAllowLoopback: boolean;
  webhookRetrySeconds: number[];
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
  /** Keys the hashes by which API keys, backup codes and preauth tokens are looked up. */
  lookupKey: Buffer;
};

export class ConfigError extends Error {
  constructor(readonly faults: string[]) {
    super(faults.join('\n'));
  }
}

// A laptop's own secrets: public, and refused everywhere but in development.
const DEVELOPMENT_SECRETS = {
  TOKEN_KEYS: 'dev:crossdock-development-token-key-0000',
  ENCRYPTION_KEYS: `1:${'d0'.repeat(32)}`,
  LOOKUP_KEY: 'd1'.repeat(32),
};

const HEX_KEY = '[0-9a-fA-F]{64}';
const text = (pattern?: string) => ({ type: 'string', ...(pattern ? { pattern } : {}) });
const whole = (minimum: number, maximum: number, fallback?: number) => ({
  type: 'integer',
  minimum,
  maximum,
  ...(fallback === undefined ? {} : { default: fallback }),
});

const SETTINGS = {
  type: 'object',
  properties: {
    APP_ENV: { enum: ['development', 'staging', 'production'], default: 'development' },
    HOST: { type: 'string', default: '127.0.0.1' },
    PORT: whole(0, 65535, 3000),
    DATABASE_URL: text('^postgres(ql)?://'),
    DATABASE_OWNER_URL: text('^postgres(ql)?://'),
    EMBEDDED_POSTGRES: { type: 'boolean', default: false },
    DATA_DIR: { type: 'string', default: '.data' },
    POOL_SIZE: whole(1, 200, 10),
    LOG_LEVEL: { enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], default: 'info' },
    TLS_CERT_FILE: text(),
    TLS_KEY_FILE: text(),
    TRUST_PROXY: text(),
    DEPLOYMENT: text('^[a-z0-9-]{1,50}$'),
    TOKEN_KEYS: text('^[\\w-]{1,32}:[^,\\s]{32,}(,[\\w-]{1,32}:[^,\\s]{32,})*$'),
    ENCRYPTION_KEYS: text(`^[0-9]{1,4}:${HEX_KEY}(,[0-9]{1,4}:${HEX_KEY})*$`),
    LOOKUP_KEY: text(`^${HEX_KEY}$`),
    RATE_LIMIT_PER_MINUTE: whole(1, 1_000_000),
    MAIL_OUTBOX: text(),
    OUTBOUND_ALLOW_LOOPBACK: { type: 'boolean', default: false },
    WEBHOOK_RETRY_SECONDS: {
      type: 'string',
      pattern: '^[0-9]+(,[0-9]+)*$',
      default: '5,300,1800,7200,18000,36000,36000',
    },
  },
} as const;

// What a setting looks like, for the one line that a fault prints; values are never printed, they may be secret.
const EXPECTED: Partial<Record<string, string>> = {
  DATABASE_URL: 'must be a postgres:// URL',
  DATABASE_OWNER_URL: 'must be a postgres:// URL',
  DEPLOYMENT: 'must be lower-case letters, digits and hyphens',
  TOKEN_KEYS: 'must be id:secret pairs joined by commas, each secret 32 characters or longer',
  ENCRYPTION_KEYS: 'must be version:key pairs joined by commas, each key 64 hex digits',
  LOOKUP_KEY: 'must be 64 hex digits',
  EMBEDDED_POSTGRES: 'must be true or false',
  OUTBOUND_ALLOW_LOOPBACK: 'must be true or false',
  WEBHOOK_RETRY_SECONDS: 'must be whole seconds joined by commas',
};

type Settings = { [Name in keyof (typeof SETTINGS)['properties']]?: string } & {
  APP_ENV: Config['appEnv'];
  HOST: string;
  DATA_DIR: string;
  LOG_LEVEL: string;
  WEBHOOK_RETRY_SECONDS: string;
};

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
  if (!isDatabaseUrl(url)) throw new ConfigError([`${name} ${EXPECTED[name]}`]);
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

function parseSettings(env: NodeJS.ProcessEnv): { settings: Settings; faults: string[] } {
  const names = Object.keys(SETTINGS.properties);
  // An empty value means unset: that is what a blank line in an env file says.
  const given = names.filter((name) => env[name] !== undefined && env[name] !== '');
  const settings = Object.fromEntries(given.map((name) => [name, env[name]]));
  const validate = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true, strict: false }).compile(
    SETTINGS,
  );
  validate(settings);
  const faults = (validate.errors ?? []).map((error) => {
    const name = error.instancePath.slice(1);
    const allowed =
      error.keyword === 'enum' ? `: ${(error.params['allowedValues'] as string[]).join(', ')}` : '';
    return `${name} ${EXPECTED[name] ?? `${error.message}${allowed}`}`;
  });
  // as: Ajv has filled the defaults that the type promises; a fault stops the boot before anything reads them
  return { settings: settings as Settings, faults };
}

function missingForDeployment(settings: Settings): string[] {
  if (settings.APP_ENV === 'development') return [];
  const required = ['TOKEN_KEYS', 'ENCRYPTION_KEYS', 'LOOKUP_KEY'] as const;
  const faults = required
    .filter((name) => !settings[name])
    .map((name) => `${name} is required in ${settings.APP_ENV}; the README says how to make one`);
  if (!settings.DATABASE_URL && !flag(settings.EMBEDDED_POSTGRES)) {
    faults.push(
      `DATABASE_URL is required in ${settings.APP_ENV} (or EMBEDDED_POSTGRES=true for a single machine)`,
    );
  }
  if (!settings.TLS_CERT_FILE && !settings.TRUST_PROXY) {
    faults.push(
      `TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY, are required in ${settings.APP_ENV}: only HTTPS is served`,
    );
  }
  for (const name of required) {
    if (holdsPublicSecret(settings[name] ?? '', DEVELOPMENT_SECRETS[name]))
      faults.push(`${name} holds the public development value; make one of your own`);
  }
  return faults;
}

/** Anywhere in a list and under any id, because every key of a list verifies or decrypts. */
function holdsPublicSecret(value: string, publicValue: string): boolean {
  const secretOf = (item: string) => item.slice(item.indexOf(':') + 1).toLowerCase();
  return list(value).some((item) => secretOf(item) === secretOf(publicValue));
}

function contradictions(settings: Settings): string[] {
  const faults = [...unusableUrls(settings), ...unusableCertificate(settings)];
  if (!list(settings.TRUST_PROXY).every(isAddressBlock))
    faults.push('TRUST_PROXY must be addresses or CIDR blocks joined by commas');
  if (Boolean(settings.TLS_CERT_FILE) !== Boolean(settings.TLS_KEY_FILE)) {
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together');
  }
  if (settings.APP_ENV === 'production' && flag(settings.OUTBOUND_ALLOW_LOOPBACK)) {
    faults.push('OUTBOUND_ALLOW_LOOPBACK is refused in production');
  }
  return faults;
}

function unusableUrls(settings: Settings): string[] {
  return (['DATABASE_URL', 'DATABASE_OWNER_URL'] as const)
    .filter((name) => {
      const value = settings[name];
      // one that is no postgres URL at all has been told already
      return value !== undefined && /^postgres(ql)?:/.test(value) && !isDatabaseUrl(value);
    })
    .map((name) => `${name} ${EXPECTED[name]}; encode special characters of the password (%23 for #)`);
}

const isDatabaseUrl = (value: string) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value);

function unusableCertificate({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: Settings): string[] {
  if (!certFile || !keyFile) return [];
  try {
    createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
    return [];
  } catch (error) {
    return [
      `TLS_CERT_FILE and TLS_KEY_FILE cannot be used: ${error instanceof Error ? error.message : 'unknown'}`,
    ];
  }
}

function isAddressBlock(item: string): boolean {
  const [address = '', prefix, ...rest] = item.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return (
    bits > 0 &&
    rest.length === 0 &&
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
  );
}

function toConfig(settings: Settings): Config {
  const tls =
    settings.TLS_CERT_FILE && settings.TLS_KEY_FILE
      ? { certFile: settings.TLS_CERT_FILE, keyFile: settings.TLS_KEY_FILE }
      : undefined;
  return {
    appEnv: settings.APP_ENV,
    host: settings.HOST,
    port: Number(settings.PORT),
    databaseUrl: settings.DATABASE_URL,
    databaseOwnerUrl:
      settings.DATABASE_OWNER_URL ?? (settings.APP_ENV === 'development' ? settings.DATABASE_URL : undefined),
    embeddedPostgres: !settings.DATABASE_URL,
    dataDir: settings.DATA_DIR,
    poolSize: Number(settings.POOL_SIZE),
    logLevel: settings.LOG_LEVEL,
    tls,
    trustProxy: list(settings.TRUST_PROXY),
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
    rateLimitPerMinute:
      settings.RATE_LIMIT_PER_MINUTE === undefined ? undefined : Number(settings.RATE_LIMIT_PER_MINUTE),
    mailOutbox: settings.MAIL_OUTBOX ?? `${settings.DATA_DIR}/outbox`,
    outboundAllowLoopback: flag(settings.OUTBOUND_ALLOW_LOOPBACK),
    webhookRetrySeconds: list(settings.WEBHOOK_RETRY_SECONDS).map(Number),
  };
}

const flag = (value: unknown) => value === true;
const list = (value: string | undefined) => (value ? value.split(',').map((item) => item.trim()) : []);

/** `a:b,c:d` as pairs; only the first colon of each divides. */
function pairs(value: string): [string, string][] {
  return value.split(',').map((item) => {
    const colon = item.indexOf(':');
    return [item.slice(0, colon), item.slice(colon + 1)];
  });
}
