import { customCleanEnv, type CleanedEnv } from 'envalid';
import { cellName, cellUrls, HOME_CELL } from './cells.js';
import { withSecretFiles } from './secret-files.js';
import { flag, oneOf, text, textLike, UNSET, wholeNumber } from './setting-validators.js';

// Secrets for development. They are public, so staging and production reject them.
export const DEVELOPMENT_SECRETS = {
  TOKEN_KEYS: 'dev:crossdock-development-token-key-0000',
  ENCRYPTION_KEYS: `1:${'d0'.repeat(32)}`,
  LOOKUP_KEY: 'd1'.repeat(32),
};

/** The default of the setting, and the least that staging and production accept. */
export const PASSWORD_HASH_COST = 12;

/** The default of the setting. */
export const MIGRATION_WAIT_SECONDS = 600;

export const DATABASE_URL_EXPECTED = 'must be a postgres:// URL';
const databaseUrl = textLike(/^postgres(ql)?:\/\//, DATABASE_URL_EXPECTED);

const tokenKeys = textLike(
  /^[\w-]{1,32}:[^,\s]{32,}(,[\w-]{1,32}:[^,\s]{32,})*$/,
  'must be id:secret pairs joined by commas, each secret 32 characters or longer',
);
const encryptionKeys = textLike(
  /^[0-9]{1,4}:[0-9a-fA-F]{64}(,[0-9]{1,4}:[0-9a-fA-F]{64})*$/,
  'must be version:key pairs joined by commas, each key 64 hex digits',
);
const resetUrl = textLike(
  /^https?:\/\/[^\s<>"]*\{token\}[^\s<>"]*$/,
  'must be a URL with {token} in it, for example https://portal.example/reset#token={token}',
);
const publicUrl = textLike(
  /^https?:\/\/[^\s<>"?#@]*[^\s<>"?#@/]$/,
  'must be the URL of the service without a slash at its end, for example https://{tenant}.crossdock.example',
);
const mailAddress = textLike(/^[^\s<>@]+@[^\s<>@]+$/, 'must be an e-mail address');
const CONTACT = '(mailto:)?[^\\s,<>@]+@[^\\s,<>@]+|https://[^\\s,]+';
const securityContact = textLike(
  new RegExp(`^(${CONTACT})(, *(${CONTACT}))*$`),
  'must be an e-mail address or an https:// URL, or several joined by commas',
);
const domains = textLike(
  /^[a-z0-9-]+(\.[a-z0-9-]+)+(, *[a-z0-9-]+(\.[a-z0-9-]+)+)*$/i,
  'must be domains joined by commas, for example example.com',
);
const hosts = textLike(
  /^(\*\.[a-z0-9-]+\.)?[a-z0-9.-]*[a-z0-9](, *(\*\.[a-z0-9-]+\.)?[a-z0-9.-]*[a-z0-9])*$/i,
  'must be host names joined by commas, for example hooks.example.com or *.staging.example.com',
);
const pooler = oneOf(
  ['transaction'],
  'must be transaction, which also fits a pooler in session mode, or unset without a pooler',
);

const collectorUrl = textLike(
  /^https?:\/\/[^\s?#@]+$/,
  'must be the http:// or https:// URL of a collector, without query and credentials',
);
const collectorHeaders = textLike(
  /^[\w-]+=([^,\s%]|%[0-9a-fA-F]{2})*(, *[\w-]+=([^,\s%]|%[0-9a-fA-F]{2})*)*$/,
  'must be name=value pairs joined by commas; encode other characters of a value (%20 for a space)',
);
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;

const environment = oneOf(['development', 'staging', 'production']);

/** No default is safe, so a start without APP_ENV is refused: development has public secrets, and production calls and mails. */
const ENVIRONMENT_MISSING =
  'APP_ENV is required: set it to production or staging. Only a clone of the repository, without real data, sets it to development';

const SETTINGS = {
  // Never served: parseSettings reports that it is missing. An inspection assumes the strictest environment.
  APP_ENV: environment({ default: 'production' }),
  HOST: text({ default: '127.0.0.1' }),
  PORT: wholeNumber(0, 65_535)({ default: 3000 }),
  DATABASE_URL: databaseUrl(UNSET),
  DATABASE_OWNER_URL: databaseUrl(UNSET),
  MIGRATE_AT_START: flag(UNSET),
  MIGRATION_WAIT_SECONDS: wholeNumber(0, 86_400)({ default: MIGRATION_WAIT_SECONDS }),
  DATABASE_POOLER: pooler(UNSET),
  DATABASE_DIRECT_URL: databaseUrl(UNSET),
  DATABASE_CELL: cellName({ default: HOME_CELL }),
  DATABASE_CELLS: cellUrls(UNSET),
  DATABASE_REPLICA_URL: databaseUrl(UNSET),
  DATABASE_REPLICA_MAX_LAG_MS: wholeNumber(0, 60_000)({ default: 500 }),
  EMBEDDED_POSTGRES: flag({ default: false }),
  DATA_DIR: text({ default: '.data' }),
  SECRETS_DIR: text(UNSET),
  API_PROCESSES: wholeNumber(1, 64)(UNSET),
  POOL_SIZE: wholeNumber(1, 200)(UNSET),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])({ default: 'info' }),
  TLS_CERT_FILE: text(UNSET),
  TLS_KEY_FILE: text(UNSET),
  TRUST_PROXY: text(UNSET),
  MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(0, 100_000)(UNSET),
  DEPLOYMENT: textLike(/^[a-z0-9-]{1,50}$/, 'must be lower-case letters, digits and hyphens')(UNSET),
  TOKEN_KEYS: tokenKeys(UNSET),
  ENCRYPTION_KEYS: encryptionKeys(UNSET),
  LOOKUP_KEY: textLike(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits')(UNSET),
  PASSWORD_HASH_COST: wholeNumber(4, 15)({ default: PASSWORD_HASH_COST }),
  SECURITY_CONTACT: securityContact(UNSET),
  RATE_LIMIT_PER_MINUTE: wholeNumber(1, 1_000_000)(UNSET),
  CUSTOMER_CHANGES_PER_DAY: wholeNumber(1, 100_000_000)({ default: 300_000 }),
  WRITTEN_MIB_PER_DAY: wholeNumber(1, 1_000_000)({ default: 2_048 }),
  MAIL_OUTBOX: text(UNSET),
  MAIL_FROM: mailAddress(UNSET),
  STAGING_MAIL_TO: mailAddress(UNSET),
  STAGING_MAIL_DOMAINS: domains(UNSET),
  PASSWORD_RESET_URL: resetUrl(UNSET),
  PUBLIC_URL: publicUrl(UNSET),
  SES_REGION: textLike(/^[a-z0-9-]{1,40}$/, 'must be an AWS region, for example us-east-1')(UNSET),
  SES_ENDPOINT: textLike(/^https?:\/\//, 'must be a URL')(UNSET),
  AWS_ACCESS_KEY_ID: text(UNSET),
  AWS_SECRET_ACCESS_KEY: text(UNSET),
  AWS_SESSION_TOKEN: text(UNSET),
  RUN_WORKER: flag({ default: true }),
  WORKER_CONCURRENCY: wholeNumber(1, 500)({ default: 50 }),
  WORKER_HEARTBEAT_SECONDS: wholeNumber(1, 15)({ default: 15 }),
  METRICS_HOST: text({ default: '127.0.0.1' }),
  METRICS_PORT: wholeNumber(0, 65_535)(UNSET),
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl(UNSET),
  OTEL_EXPORTER_OTLP_HEADERS: collectorHeaders(UNSET),
  OTEL_SERVICE_NAME: text({ default: 'crossdock' }),
  OTEL_TRACES_SAMPLER: oneOf([...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}` as const)])({
    default: 'parentbased_always_on',
  }),
  OTEL_TRACES_SAMPLER_ARG: textLike(
    /^(0(\.\d+)?|1(\.0+)?)$/,
    'must be a number from 0 to 1',
  )({ default: '1' }),
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(1, 60_000)({ default: 5_000 }),
  TRACE_CALLERS_PER_SECOND: wholeNumber(0, 1_000)({ default: 10 }),
  OUTBOUND_DNS_SERVERS: text(UNSET),
  OUTBOUND_ALLOW_LOOPBACK: flag({ default: false }),
  OUTBOUND_HOSTS: hosts(UNSET),
  OUTBOUND_PORTS: textLike(/^[0-9]{1,5}(, *[0-9]{1,5})*$/, 'must be port numbers joined by commas')(UNSET),
  OUTBOUND_REQUESTS_PER_SECOND: wholeNumber(1, 1_000_000)({ default: 100 }),
  WEBHOOK_RETRY_SECONDS: textLike(
    /^[0-9]+(,[0-9]+)*$/,
    'must be whole seconds joined by commas',
  )({ default: '5,300,1800,7200,18000,36000,36000' }),
  WEBHOOK_EXCHANGE_DAYS: wholeNumber(0, 30)({ default: 30 }),
  API_CALL_LOG_DAYS: wholeNumber(0, 90)({ default: 30 }),
  API_CALL_LOG_PERCENT: wholeNumber(0, 100)({ default: 100 }),
};

/** The names of the settings of servers and workers. */
export const SETTING_NAMES = Object.keys(SETTINGS);

/** The settings with their types, defaults filled in. */
export type Settings = CleanedEnv<typeof SETTINGS>;

/** Returns the fault of APP_ENV, for commands that read only few settings. */
export function environmentFaults({ APP_ENV }: NodeJS.ProcessEnv): string[] {
  if (!APP_ENV) return [ENVIRONMENT_MISSING];
  return parseSettings({ APP_ENV }).faults;
}

/** Reads the settings from `env`. Returns one line per faulty setting, their names, and those of secrets whose files cannot be read. */
export function parseSettings(env: NodeJS.ProcessEnv): {
  settings: Settings;
  faults: string[];
  faulty: string[];
  unread: string[];
} {
  const secrets = withSecretFiles(env);
  // An empty value means unset, as in an env file with `NAME=`.
  const given = Object.fromEntries(Object.entries(secrets.given).filter(([, value]) => value !== ''));
  const faults = new Map<string, string>();
  const settings = customCleanEnv(given, SETTINGS, (cleaned) => cleaned, {
    reporter({ errors }) {
      for (const [name, error] of Object.entries(errors)) faults.set(name, `${name} ${error.message}`);
    },
  });
  if (!given['APP_ENV']) faults.set('APP_ENV', ENVIRONMENT_MISSING);
  // A faulty setting keeps its text, so that no check also reports it as missing. Any fault prevents the start.
  const faulty = Object.entries(given).filter(([name]) => faults.has(name));
  return {
    settings: { ...settings, ...Object.fromEntries(faulty) },
    faults: [...secrets.faults, ...faults.values()],
    faulty: [...faults.keys()],
    unread: secrets.unread,
  };
}

export const isDatabaseUrl = (value: string) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value);

export const list = (value: string | undefined) => (value ? value.split(',').map((item) => item.trim()) : []);
