import { Ajv } from 'ajv';

// A laptop's own secrets: public, and refused everywhere but in development.
export const DEVELOPMENT_SECRETS = {
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
    DATABASE_POOLER: { enum: ['transaction'] },
    DATABASE_DIRECT_URL: text('^postgres(ql)?://'),
    EMBEDDED_POSTGRES: { type: 'boolean', default: false },
    DATA_DIR: { type: 'string', default: '.data' },
    POOL_SIZE: whole(1, 200, 10),
    LOG_LEVEL: { enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], default: 'info' },
    TLS_CERT_FILE: text(),
    TLS_KEY_FILE: text(),
    TRUST_PROXY: text(),
    MAX_CONNECTIONS_PER_ADDRESS: whole(0, 100_000),
    DEPLOYMENT: text('^[a-z0-9-]{1,50}$'),
    TOKEN_KEYS: text('^[\\w-]{1,32}:[^,\\s]{32,}(,[\\w-]{1,32}:[^,\\s]{32,})*$'),
    ENCRYPTION_KEYS: text(`^[0-9]{1,4}:${HEX_KEY}(,[0-9]{1,4}:${HEX_KEY})*$`),
    LOOKUP_KEY: text(`^${HEX_KEY}$`),
    RATE_LIMIT_PER_MINUTE: whole(1, 1_000_000),
    CUSTOMER_CHANGES_PER_DAY: whole(1, 100_000_000, 300_000),
    MAIL_OUTBOX: text(),
    MAIL_FROM: text('^[^\\s<>@]+@[^\\s<>@]+$'),
    PASSWORD_RESET_URL: text('^https?://[^\\s<>"]*\\{token\\}[^\\s<>"]*$'),
    SES_REGION: text('^[a-z0-9-]{1,40}$'),
    SES_ENDPOINT: text('^https?://'),
    RUN_WORKER: { type: 'boolean', default: true },
    WORKER_CONCURRENCY: whole(1, 500, 50),
    WORKER_HEARTBEAT_SECONDS: whole(1, 15, 15),
    METRICS_HOST: { type: 'string', default: '127.0.0.1' },
    METRICS_PORT: whole(0, 65535),
    OUTBOUND_DNS_SERVERS: text(),
    OUTBOUND_ALLOW_LOOPBACK: { type: 'boolean', default: false },
    OUTBOUND_PORTS: text('^[0-9]{1,5}(, *[0-9]{1,5})*$'),
    OUTBOUND_REQUESTS_PER_SECOND: whole(1, 1_000_000, 100),
    WEBHOOK_RETRY_SECONDS: {
      type: 'string',
      pattern: '^[0-9]+(,[0-9]+)*$',
      default: '5,300,1800,7200,18000,36000,36000',
    },
  },
} as const;

// What a setting looks like, for the one line that a fault prints; values are never printed, they may be secret.
export const EXPECTED: Partial<Record<string, string>> = {
  DATABASE_URL: 'must be a postgres:// URL',
  DATABASE_OWNER_URL: 'must be a postgres:// URL',
  DATABASE_POOLER: 'must be transaction, which also fits a pooler in session mode, or unset without a pooler',
  DATABASE_DIRECT_URL: 'must be a postgres:// URL',
  DEPLOYMENT: 'must be lower-case letters, digits and hyphens',
  TOKEN_KEYS: 'must be id:secret pairs joined by commas, each secret 32 characters or longer',
  ENCRYPTION_KEYS: 'must be version:key pairs joined by commas, each key 64 hex digits',
  LOOKUP_KEY: 'must be 64 hex digits',
  EMBEDDED_POSTGRES: 'must be true or false',
  OUTBOUND_ALLOW_LOOPBACK: 'must be true or false',
  OUTBOUND_PORTS: 'must be port numbers joined by commas',
  RUN_WORKER: 'must be true or false',
  MAIL_FROM: 'must be an e-mail address',
  PASSWORD_RESET_URL:
    'must be a URL with {token} in it, for example https://portal.example/reset#token={token}',
  SES_REGION: 'must be an AWS region, for example us-east-1',
  SES_ENDPOINT: 'must be a URL',
  WEBHOOK_RETRY_SECONDS: 'must be whole seconds joined by commas',
};

type Name = keyof (typeof SETTINGS)['properties'];

/** As the schema leaves them: numbers and booleans converted, defaults filled in. */
export type Settings = {
  [Key in Exclude<Name, keyof Converted | 'DATABASE_POOLER'>]?: string;
} & Converted & {
    APP_ENV: 'development' | 'staging' | 'production';
    HOST: string;
    DATA_DIR: string;
    LOG_LEVEL: string;
    WEBHOOK_RETRY_SECONDS: string;
    METRICS_HOST: string;
    DATABASE_POOLER?: 'transaction';
  };

type Converted = {
  PORT: number;
  POOL_SIZE: number;
  RATE_LIMIT_PER_MINUTE?: number;
  MAX_CONNECTIONS_PER_ADDRESS?: number;
  CUSTOMER_CHANGES_PER_DAY: number;
  OUTBOUND_REQUESTS_PER_SECOND: number;
  EMBEDDED_POSTGRES: boolean;
  OUTBOUND_ALLOW_LOOPBACK: boolean;
  RUN_WORKER: boolean;
  WORKER_CONCURRENCY: number;
  WORKER_HEARTBEAT_SECONDS: number;
  METRICS_PORT?: number;
};

/** The settings that `env` holds, defaults filled in, and one line a fault. */
export function parseSettings(env: NodeJS.ProcessEnv): { settings: Settings; faults: string[] } {
  const names = Object.keys(SETTINGS.properties);
  // An empty value means unset: that is what a blank line in an env file says.
  const given = names.filter((name) => env[name] !== undefined && env[name] !== '');
  const settings: Record<string, unknown> = Object.fromEntries(given.map((name) => [name, env[name]]));
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

export const isDatabaseUrl = (value: string) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value);

export const list = (value: string | undefined) => (value ? value.split(',').map((item) => item.trim()) : []);
