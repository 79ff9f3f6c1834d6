import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { withClient } from '../../src/platform/db/connections/roles.js';
import {
  ConfigError,
  readConfig,
  readOtherOwnerCells,
  readOwnerCells,
  readOwnerUrl,
} from '../../src/config/config.js';
import { developmentConfig } from '../support/staging/development.js';
import { admitOnly, freshDatabase, type TestDatabase } from '../support/service/database.js';
import { ask } from '../support/service/client.js';
import {
  endProcesses,
  freePort,
  makeFolder,
  removeFolders,
  run,
  until,
} from '../support/service/processes.js';
import { statusOf } from '../support/service/processes.js';

const SECRETS = {
  TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
  ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
  LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
};
const PRODUCTION = {
  APP_ENV: 'production',
  ...SECRETS,
  DATABASE_URL: 'postgres://service@db.example.com/crossdock',
  TRUST_PROXY: '10.0.0.0/8',
};

/** Returns the error lines with which these settings stop the start; none if they are valid. */
function errorLinesOf(env: Record<string, string>): string[] {
  try {
    developmentConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('reading the settings', () => {
  test('defaults are sufficient for a laptop', () => {
    expect(developmentConfig({})).toMatchObject({
      appEnv: 'development',
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: undefined,
      databaseOwnerUrl: undefined,
      embeddedPostgres: true,
      dataDir: '.data',
      poolSize: 10,
      logLevel: 'info',
      tls: undefined,
      trustProxy: [],
      maxConnectionsPerAddress: undefined,
      passwordHashCost: 12,
      rateLimitPerMinute: undefined,
      mail: { from: 'crossdock@localhost', ses: undefined, outbox: '.data/outbox' },
      outbound: { allowLoopback: false, dnsServers: [] },
      worker: { inProcess: true, concurrency: 50, heartbeatSeconds: 15 },
      metrics: undefined,
      webhookRetrySeconds: [5, 300, 1800, 7200, 18000, 36000, 36000],
      webhookExchangeDays: 30,
      callLog: { days: 30, percent: 100 },
      tokens: { deployment: 'development', keys: [{ id: 'dev' }] },
    });
  });

  const OWNER = { DATABASE_URL: 'postgres://a/x', DATABASE_OWNER_URL: 'postgres://b/x' };

  test.each<[name: string, read: (env: NodeJS.ProcessEnv) => unknown]>([
    ['every setting', readConfig],
    ["the owner's connection", (env) => readOwnerUrl({ ...OWNER, ...env })],
    ["the owner's connections of the cells", (env) => readOwnerCells({ ...OWNER, ...env })],
    ["the owner's connections of other cells", (env) => readOtherOwnerCells({ ...OWNER, ...env })],
  ])('whoever reads %s gets one line if APP_ENV is missing, empty or unknown', (_what, read) => {
    const faultsOf = (env: NodeJS.ProcessEnv) => {
      try {
        return read(env);
      } catch (error) {
        return error instanceof ConfigError ? error.faults : error;
      }
    };
    const missing = [expect.stringMatching(/^APP_ENV is required: set it to production or staging\./)];
    expect(faultsOf({})).toEqual(missing);
    expect(faultsOf({ APP_ENV: '' })).toEqual(missing);
    // What else is missing depends on it.
    expect(faultsOf({ PORT: 'sesame', NODE_ENV: 'production' })).toEqual(missing);
    for (const APP_ENV of ['prod', 'Production', ' production', 'test'])
      expect(faultsOf({ APP_ENV })).toEqual([expect.stringMatching(/^APP_ENV must be equal to one of/)]);
  });

  test('an empty value counts as unset', () => {
    const names = ['HOST', 'PORT', 'DATABASE_URL', 'DATA_DIR', 'TOKEN_KEYS', 'TRUST_PROXY'];
    expect(developmentConfig(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(
      developmentConfig({}),
    );
  });

  test('values are read and converted', () => {
    const config = developmentConfig({
      ...PRODUCTION,
      PORT: '0',
      POOL_SIZE: '25',
      TRUST_PROXY: '10.0.0.0/8, ::1',
      DATA_DIR: '/srv/crossdock',
      WEBHOOK_RETRY_SECONDS: '1,2',
      WEBHOOK_EXCHANGE_DAYS: '7',
      API_CALL_LOG_DAYS: '14',
      API_CALL_LOG_PERCENT: '10',
      MAIL_FROM: 'gateway@example.com',
      SES_REGION: 'us-east-1',
      RUN_WORKER: 'false',
      WORKER_CONCURRENCY: '200',
      WORKER_HEARTBEAT_SECONDS: '5',
      METRICS_HOST: '10.0.0.5',
      METRICS_PORT: '9464',
      OUTBOUND_DNS_SERVERS: '192.0.2.53, [2001:db8::53]:5353',
      RATE_LIMIT_PER_MINUTE: '600',
      TOKEN_KEYS: `new:${'new-key:0123'.repeat(4)},old:${'old-key-0123'.repeat(4)}`,
      ENCRYPTION_KEYS: `2:${'F0E1D2C3B4A59687'.repeat(4)},1:${'0123456789abcdef'.repeat(4)}`,
    });
    expect(config).toMatchObject({
      port: 0,
      poolSize: 25,
      trustProxy: ['10.0.0.0/8', '::1'],
      maxConnectionsPerAddress: 512,
      mail: { from: 'gateway@example.com', ses: { region: 'us-east-1' }, outbox: '/srv/crossdock/outbox' },
      outbound: { allowLoopback: false, dnsServers: ['192.0.2.53', '[2001:db8::53]:5353'] },
      worker: { inProcess: false, concurrency: 200, heartbeatSeconds: 5 },
      metrics: { host: '10.0.0.5', port: 9464 },
      webhookRetrySeconds: [1, 2],
      webhookExchangeDays: 7,
      callLog: { days: 14, percent: 10 },
      rateLimitPerMinute: 600,
      embeddedPostgres: false,
      tokens: {
        deployment: 'production',
        keys: [
          { id: 'new', secret: 'new-key:0123'.repeat(4) },
          { id: 'old', secret: 'old-key-0123'.repeat(4) },
        ],
      },
      secrets: {
        encryptionKeys: [
          { version: '2', key: Buffer.from('f0e1d2c3b4a59687'.repeat(4), 'hex') },
          { version: '1' },
        ],
      },
    });
  });

  test.each([
    ['APP_ENV', 'prod-like', 'must be equal to one of the allowed values: development, staging, production'],
    ['PORT', 'eighty', 'must be integer'],
    ['PORT', '65536', 'must be <= 65535'],
    ['PORT', '-1', 'must be >= 0'],
    ['PORT', '3000.5', 'must be integer'],
    ['POOL_SIZE', '0', 'must be >= 1'],
    ['POOL_SIZE', '201', 'must be <= 200'],
    ['DATABASE_URL', 'mysql://user:sesame@db/x', 'must be a postgres:// URL'],
    ['DATABASE_URL', 'postgres://user:ses#ame@db/x', 'must be a postgres:// URL; encode special characters'],
    ['DATABASE_OWNER_URL', 'sesame', 'must be a postgres:// URL'],
    ['EMBEDDED_POSTGRES', 'sesame', 'must be true or false'],
    ['LOG_LEVEL', 'sesame', 'must be equal to one of the allowed values: fatal'],
    ['DEPLOYMENT', 'Sesame Street', 'must be lower-case letters, digits and hyphens'],
    ['TOKEN_KEYS', 'k1:sesame', 'must be id:secret pairs'],
    ['TOKEN_KEYS', 'sesame'.repeat(10), 'must be id:secret pairs'],
    ['ENCRYPTION_KEYS', `1:${'xy'.repeat(32)}`, 'must be version:key pairs'],
    ['ENCRYPTION_KEYS', '0123456789abcdef'.repeat(4), 'must be version:key pairs'],
    ['LOOKUP_KEY', 'ab'.repeat(31), 'must be 64 hex digits'],
    ['TRUST_PROXY', 'sesame', 'must be addresses or CIDR blocks'],
    ['TRUST_PROXY', '10.0.0.0/33', 'must be addresses or CIDR blocks'],
    ['RATE_LIMIT_PER_MINUTE', '0', 'must be >= 1'],
    ['PASSWORD_HASH_COST', '3', 'must be >= 4'],
    ['OUTBOUND_ALLOW_LOOPBACK', 'maybe-sesame', 'must be true or false'],
    ['PASSWORD_RESET_URL', 'https://sesame.example/reset', 'must be a URL with {token} in it'],
    ['PASSWORD_RESET_URL', 'sesame:{token}', 'must be a URL with {token} in it'],
    ['WEBHOOK_RETRY_SECONDS', '5,sesame', 'must be whole seconds joined by commas'],
  ])('%s=%s stops the start with one line that names it and hides the value', (name, value, text) => {
    const lines = errorLinesOf(
      name === 'DATABASE_OWNER_URL' ? { DATABASE_URL: 'postgres://db/x', [name]: value } : { [name]: value },
    );
    expect(lines).toEqual([expect.stringContaining(`${name} ${text}`)]);
    expect(lines[0]).not.toContain('\n');
    expect(lines[0]).not.toContain(value);
    expect(lines[0]).not.toContain('sesame');
  });

  test('every invalid setting gets its own line', () => {
    const lines = errorLinesOf({ PORT: 'x', POOL_SIZE: '0', LOOKUP_KEY: 'y' });
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(['LOOKUP_KEY', 'POOL_SIZE', 'PORT']);
  });

  test('settings that depend on each other must be set together', async () => {
    expect(errorLinesOf({ TLS_CERT_FILE: '/cert.pem' })).toEqual([
      'TLS_CERT_FILE and TLS_KEY_FILE must be set together',
    ]);
    expect(errorLinesOf({ DATABASE_OWNER_URL: 'postgres://db/x' })).toEqual([
      expect.stringMatching(/^DATABASE_OWNER_URL needs DATABASE_URL/),
    ]);
    const folder = await makeFolder();
    await writeFile(join(folder, 'not.pem'), 'not a certificate');
    for (const file of [join(folder, 'absent.pem'), join(folder, 'not.pem')]) {
      expect(errorLinesOf({ TLS_CERT_FILE: file, TLS_KEY_FILE: file })).toEqual([
        expect.stringMatching(/^TLS_CERT_FILE and TLS_KEY_FILE cannot be used: [^\n]+$/),
      ]);
    }
  });

  test('scripts for the owner need no other settings', () => {
    expect(
      readOwnerUrl({
        APP_ENV: 'staging',
        DATABASE_URL: 'postgres://a/x',
        DATABASE_OWNER_URL: 'postgres://b/x',
      }),
    ).toBe('postgres://b/x');
    expect(readOwnerUrl({ APP_ENV: 'staging', DATABASE_URL: 'postgres://a/x', DATABASE_OWNER_URL: '' })).toBe(
      'postgres://a/x',
    );
    expect(() => readOwnerUrl({ APP_ENV: 'staging' })).toThrow(/^Set DATABASE_OWNER_URL/);
    expect(() => readOwnerUrl({ APP_ENV: 'staging', DATABASE_URL: 'sesame' })).toThrow(
      /^DATABASE_URL must be a postgres:\/\/ URL$/,
    );
  });
});

describe.each(['staging', 'production'])('in %s', (APP_ENV) => {
  const complete = { ...PRODUCTION, APP_ENV };
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(complete).filter(([name]) => !names.includes(name)));

  test('a complete set of settings is accepted', () => {
    expect(errorLinesOf(complete)).toEqual([]);
    expect(developmentConfig(complete)).toMatchObject({ appEnv: APP_ENV, databaseOwnerUrl: undefined });
    expect(errorLinesOf({ ...without('DATABASE_URL'), EMBEDDED_POSTGRES: 'true' })).toEqual([]);
  });

  test('password hashes weaker than the default are refused', () => {
    expect(errorLinesOf({ ...complete, PASSWORD_HASH_COST: '11' })).toEqual([
      `PASSWORD_HASH_COST must be at least 12 in ${APP_ENV}`,
    ]);
    expect(developmentConfig({ ...complete, PASSWORD_HASH_COST: '13' }).passwordHashCost).toBe(13);
  });

  test.each(['TOKEN_KEYS', 'ENCRYPTION_KEYS', 'LOOKUP_KEY', 'DATABASE_URL'])('%s is required', (name) => {
    expect(errorLinesOf(without(name))).toEqual([
      expect.stringMatching(new RegExp(`^${name} is required in ${APP_ENV}`)),
    ]);
  });

  test('TLS or a trusted proxy is required', () => {
    expect(errorLinesOf(without('TRUST_PROXY'))).toEqual([
      expect.stringMatching(/^TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY, are required/),
    ]);
  });

  test('all missing settings are reported at once', () => {
    expect(errorLinesOf({ APP_ENV })).toHaveLength(5);
  });

  test.each([
    ['TOKEN_KEYS', 'dev:crossdock-development-token-key-0000'],
    ['TOKEN_KEYS', `k1:${'test-key-0123456789'.repeat(3)},other-name:crossdock-development-token-key-0000`],
    ['ENCRYPTION_KEYS', `1:${'d0'.repeat(32)}`],
    ['ENCRYPTION_KEYS', `2:${'0123456789abcdef'.repeat(4)},1:${'D0'.repeat(32)}`],
    ['LOOKUP_KEY', 'D1'.repeat(32)],
  ])('%s must not contain the public development value at any position (%#)', (name, value) => {
    expect(errorLinesOf({ ...complete, [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name} holds the public development value`)),
    ]);
  });

  test.each([
    ['LOOKUP_KEY', '0'.repeat(64)],
    ['LOOKUP_KEY', '1234567'.repeat(10).slice(0, 64)],
    ['LOOKUP_KEY', 'aAbBcCdD'.repeat(8)],
    ['ENCRYPTION_KEYS', `1:${'f'.repeat(64)}`],
    ['ENCRYPTION_KEYS', `2:${'0123456789abcdef'.repeat(4)},1:${'01'.repeat(32)}`],
    ['TOKEN_KEYS', `key-of-production:${'changeme'.repeat(4).replaceAll('c', 'e')}`],
  ])('%s must not be guessable at any position (%#)', (name, value) => {
    expect(errorLinesOf({ ...complete, [name]: value })).toEqual([
      expect.stringMatching(
        new RegExp(`^${name} holds a secret of very few different characters; replace it`),
      ),
    ]);
    expect(errorLinesOf({ APP_ENV: 'development', [name]: value })).toEqual([]);
  });
});

test('SES requires a sender, and OUTBOUND_DNS_SERVERS accepts only addresses', () => {
  expect(errorLinesOf({ SES_REGION: 'us-east-1' })).toEqual([
    'MAIL_FROM must be set with SES_REGION: an address that SES may send from',
  ]);
  const line = 'OUTBOUND_DNS_SERVERS must be addresses joined by commas, each with or without a port';
  for (const OUTBOUND_DNS_SERVERS of ['ns.example.com', '192.0.2.1:', '[192.0.2.1', '1.2.3', '192.0.2.1,x'])
    expect([OUTBOUND_DNS_SERVERS, errorLinesOf({ OUTBOUND_DNS_SERVERS })]).toEqual([
      OUTBOUND_DNS_SERVERS,
      [line],
    ]);
  expect(errorLinesOf({ OUTBOUND_DNS_SERVERS: '192.0.2.1,192.0.2.1:53,2001:db8::1,[::1]:53' })).toEqual([]);
});

test('PASSWORD_RESET_URL must use https outside development', () => {
  const PASSWORD_RESET_URL = 'http://portal.example/reset#token={token}';
  expect(errorLinesOf({ ...PRODUCTION, PASSWORD_RESET_URL })).toEqual([
    'PASSWORD_RESET_URL must begin with https:// outside of development',
  ]);
  expect(developmentConfig({ PASSWORD_RESET_URL })).toMatchObject({ passwordResetUrl: PASSWORD_RESET_URL });
});

test('OUTBOUND_ALLOW_LOOPBACK is rejected only in production', () => {
  const OUTBOUND_ALLOW_LOOPBACK = 'true';
  expect(errorLinesOf({ ...PRODUCTION, OUTBOUND_ALLOW_LOOPBACK })).toEqual([
    'OUTBOUND_ALLOW_LOOPBACK is refused in production',
  ]);
  expect(errorLinesOf({ ...PRODUCTION, APP_ENV: 'staging', OUTBOUND_ALLOW_LOOPBACK })).toEqual([]);
  expect(developmentConfig({ OUTBOUND_ALLOW_LOOPBACK })).toMatchObject({ outbound: { allowLoopback: true } });
});

describe('a start in production', () => {
  const LOGIN = { user: `crossdock_test_login_${process.pid}`, password: 'login-password' };
  let database: TestDatabase;
  let owner: pg.Client;

  beforeAll(async () => {
    database = await freshDatabase();
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    await owner.query(`create role ${LOGIN.user} login password '${LOGIN.password}' in role crossdock_app`);
    await admitOnly(database.ownerUrl, LOGIN.user);
  }, 30_000);

  afterEach(endProcesses);

  afterAll(async () => {
    await owner.end();
    await database.drop();
    await withClient(String(process.env['TEST_ADMIN_URL']), (admin) =>
      admin.query(`drop role ${LOGIN.user}`),
    );
    await removeFolders();
  }, 30_000);

  const urlOf = (login: { user: string; password: string }) => {
    const url = new URL(database.ownerUrl);
    return Object.assign(url, { username: login.user, password: login.password }).href;
  };
  // Without them a start in production prints warnings.
  const complete = {
    SES_REGION: 'eu-west-1',
    MAIL_FROM: 'gateway@example.com',
    RATE_LIMIT_PER_MINUTE: '600',
  };
  const start = (DATABASE_URL: string, more: Record<string, string> = {}) =>
    run('src/main.js', {
      ...PRODUCTION,
      ...complete,
      TRUST_PROXY: '127.0.0.1',
      LOG_LEVEL: 'error',
      DATABASE_URL,
      ...more,
    });

  test('reports each missing or invalid setting in one line and exits with 1', async () => {
    const refused = run('src/main.js', { APP_ENV: 'production', PORT: 'sesame' });
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    const lines = refused.output().trimEnd().split('\n');
    expect(lines).toHaveLength(6);
    expect(lines.join(' ')).not.toContain('sesame');
    for (const line of lines) expect(line).toMatch(/^[A-Z_]+ /);
  });

  test('rejects a superuser with a reason', async () => {
    const refused = start(database.ownerUrl);
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    expect(refused.output()).toMatch(
      /^DATABASE_URL must not be able to bypass row-level security, but the role \S+ is a superuser; [^\n]+\n$/,
    );
  });

  test('rejects a role that bypasses row-level security, can become a role that does, or owns the tables', async () => {
    await owner.query(`alter role ${LOGIN.user} bypassrls`);
    const bypassingRole = start(urlOf(LOGIN));
    await bypassingRole.ended;
    expect(bypassingRole.output()).toMatch(/but the role \S+ bypasses row-level security/);

    await owner.query(`alter role ${LOGIN.user} nobypassrls`);
    await owner.query(`grant "${new URL(database.ownerUrl).username}" to ${LOGIN.user}`);
    const memberRole = start(urlOf(LOGIN));
    await memberRole.ended;
    await owner.query(`revoke "${new URL(database.ownerUrl).username}" from ${LOGIN.user}`);
    expect(memberRole.output()).toMatch(/but the role \S+ may become \S+;/);

    await owner.query(`alter table prealerts owner to ${LOGIN.user}`);
    const ownerRole = start(urlOf(LOGIN));
    await ownerRole.ended;
    await owner.query('alter table prealerts owner to current_user');
    expect(ownerRole.output()).toMatch(/but the role \S+ owns the tables/);
  });

  test('serves, over HTTPS only, with a login that has only the role crossdock_app', async () => {
    const PORT = String(await freePort());
    const serving = start(urlOf(LOGIN), { PORT });
    const url = `http://127.0.0.1:${PORT}`;
    await until(async () => serving.child.exitCode !== null || (await statusOf(`${url}/ready`)) === 200);
    expect(serving.output()).toBe('');

    const path = '/api/ManagePrealerts.php';
    expect(await ask(url, { path })).toMatchObject({ status: 403 });
    expect(await ask(url, { path, headers: { 'x-forwarded-proto': 'https' } })).toMatchObject({
      // No tenant has this host.
      status: 404,
    });
    serving.child.kill('SIGTERM');
    expect(await serving.ended).toEqual({ code: 0, signal: null });
  });

  test('names the missing migrations, and serves without demo data once they are applied', async () => {
    const bare = `${new URL(database.ownerUrl).pathname.slice(1)}_bare`;
    await owner.query(`create database "${bare}"`);
    const at = (url: string) => Object.assign(new URL(url), { pathname: `/${bare}` }).href;
    await admitOnly(at(database.ownerUrl), LOGIN.user);
    const refused = start(at(urlOf(LOGIN)));
    expect(await refused.ended).toEqual({ code: 1, signal: null });
    expect(refused.output()).toMatch(
      /^The database lacks \d+ migrations, from \d+_\w+ to \d+_\w+: run npm run migrate with DATABASE_OWNER_URL set\n$/,
    );

    const withOwner = start(at(urlOf(LOGIN)), { DATABASE_OWNER_URL: at(database.ownerUrl) });
    expect(await withOwner.ended).toEqual({ code: 1, signal: null });
    expect(withOwner.output()).toMatch(
      /^The database lacks \d+ migrations, from \d+_\w+ to \d+_\w+: run npm run migrate with DATABASE_OWNER_URL set\. A server or worker applies migrations only with MIGRATE_AT_START=true\n$/,
    );
    const { rows } = await withClient(at(database.ownerUrl), (client) =>
      client.query("select to_regclass('public.tenants') as tenants"),
    );
    expect(rows).toEqual([{ tenants: null }]);

    const settings = { APP_ENV: 'production', DATABASE_OWNER_URL: at(database.ownerUrl) };
    const migrating = run('src/commands/migrate.js', settings);
    expect(await migrating.ended).toEqual({ code: 0, signal: null });
    expect(migrating.output()).toMatch(/^Applied \d+_\w+/);
    const again = run('src/commands/migrate.js', settings);
    await again.ended;
    expect(again.output()).toBe('Nothing to apply.\n');

    const PORT = String(await freePort());
    const serving = start(at(urlOf(LOGIN)), { PORT, DATABASE_OWNER_URL: at(database.ownerUrl) });
    await until(
      async () =>
        serving.child.exitCode !== null || (await statusOf(`http://127.0.0.1:${PORT}/ready`)) === 200,
    );
    expect(serving.output()).toBe('');
    const client = new pg.Client({ connectionString: at(database.ownerUrl) });
    await client.connect();
    expect((await client.query('select count(*)::int as tenants from tenants')).rows).toEqual([
      { tenants: 0 },
    ]);
    await client.end();
    serving.child.kill('SIGTERM');
    await serving.ended;
    await owner.query(`drop database "${bare}" with (force)`);
  }, 30_000);
});
