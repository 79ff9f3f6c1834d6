import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { DEVELOPMENT_SECRETS, parseSettings } from '../../../src/config/settings.js';
import { readConfig, surveyConfig } from '../../../src/config/config.js';
import { SECRET_SETTINGS } from '../../../src/config/secret-files.js';
import { projectRoot } from '../../../src/config/project-root.js';

const deploy = join(projectRoot, 'deploy');
const read = (path: string) => readFileSync(join(deploy, path), 'utf8');
const ENVIRONMENTS = ['staging', 'production'] as const;
/** The secrets that every deployment may need. */
const CREATED = [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_DIRECT_URL',
  ...Object.keys(DEVELOPMENT_SECRETS),
];
const SETTINGS = Object.keys(parseSettings({}).settings);
/** The service ends at most this long after SIGTERM. */
const EXIT_SECONDS = 9.5;

const envFile = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

const settingsOf = Object.fromEntries(
  ENVIRONMENTS.map((name) => [name, envFile(read(`settings/${name}.env`))]),
) as Record<(typeof ENVIRONMENTS)[number], Record<string, string>>;
const valuesOf = (name: string) => parse(read(`helm/crossdock/values${name && `.${name}`}.yaml`));
const compose = parse(read('compose/compose.yaml'), { merge: true });
const units = Object.fromEntries(
  readdirSync(join(deploy, 'systemd')).map((name) => [name, read(`systemd/${name}`)]),
);
const services = Object.entries(units).filter(([name]) => name.endsWith('.service'));

/** Returns the names of all keys, in their order: `settings.APP_ENV`. */
const keysOf = (value: unknown, prefix = ''): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, each]) => [`${prefix}${key}`, ...keysOf(each, `${prefix}${key}.`)])
    : [];

describe('staging and production', () => {
  test('name the same settings in the same order, which the service has', () => {
    expect(Object.keys(settingsOf.staging)).toEqual(Object.keys(settingsOf.production));
    expect(Object.keys(settingsOf.production).length).toBeGreaterThan(5);
    expect(SETTINGS).toEqual(expect.arrayContaining(Object.keys(settingsOf.production)));
  });

  test.each(ENVIRONMENTS)('%s: health checks that succeed fill no log', (name) => {
    expect(settingsOf[name]).toMatchObject({ LOG_LEVEL: 'info' });
  });

  test.each(ENVIRONMENTS)('%s: the chart has the same settings as the env file', (name) => {
    expect(valuesOf(name).settings).toEqual(settingsOf[name]);
  });

  test('the charts values have the same keys in the same order, and only keys with a default', () => {
    const [staging, production] = ENVIRONMENTS.map((name) => keysOf(valuesOf(name)));
    expect(staging).toEqual(production);
    const isSetting = (key: string) => key.startsWith('settings.');
    expect(keysOf(valuesOf(''))).toEqual(
      expect.arrayContaining((production ?? []).filter((key) => !isSetting(key))),
    );
  });

  test.each(ENVIRONMENTS)('%s starts with its settings and secrets', (name) => {
    const config = readConfig({
      ...settingsOf[name],
      DATABASE_URL: 'postgres://crossdock_login@127.0.0.1/crossdock',
      TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
      ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
      LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
      TRUST_PROXY: '127.0.0.1',
    });
    expect(config.appEnv).toBe(name);
    expect(config.tokens.deployment).toBe(`crossdock-${name}`);
  });

  test.each(ENVIRONMENTS)('%s does not start without any one of its required settings', (name) => {
    const complete: Record<string, string> = {
      ...settingsOf[name],
      DATABASE_URL: 'postgres://crossdock_login@127.0.0.1/crossdock',
      TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
      ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
      LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
      TRUST_PROXY: '127.0.0.1',
    };
    const faultsWithout = (setting: string) =>
      surveyConfig({ ...complete, [setting]: undefined }).faults.map((fault) => fault.split(' ')[0]);
    const required = Object.keys(complete).filter((setting) => faultsWithout(setting).length > 0);
    expect(required.sort()).toEqual(
      ['APP_ENV', 'DATABASE_URL', 'ENCRYPTION_KEYS', 'LOOKUP_KEY', 'TOKEN_KEYS', 'TRUST_PROXY']
        .concat(name === 'production' ? ['MAIL_FROM'] : [])
        .sort(),
    );
    for (const setting of required) expect(faultsWithout(setting)).toHaveLength(1);
  });

  test('tokens, and mail to the outside, differ', () => {
    expect(settingsOf.staging['DEPLOYMENT']).not.toBe(settingsOf.production['DEPLOYMENT']);
    expect(settingsOf.staging['SES_REGION']).toBe('');
    expect(valuesOf('staging').secrets).not.toEqual(valuesOf('production').secrets);
  });
});

test('no file contains a secret', () => {
  const files = readdirSync(deploy, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.length).toBeGreaterThan(25);
  const leaks = files.filter((path) => {
    const text = readFileSync(path, 'utf8');
    const assigned = new RegExp(
      `\\b(${SECRET_SETTINGS.join('|')})\\s*[=:]\\s*['"]?(postgres:|\\w+:\\w{8}|[0-9a-f]{32})`,
    );
    return assigned.test(text) || /BEGIN [A-Z ]*PRIVATE KEY/.test(text);
  });
  expect(leaks).toEqual([]);
  for (const name of ENVIRONMENTS)
    expect(SECRET_SETTINGS.filter((secret) => secret in settingsOf[name])).toEqual([]);
});

/** Variables that Node and the C library read. */
const NOT_OURS = ['NODE_ENV', 'MALLOC_ARENA_MAX'];

describe('every way to run the service', () => {
  const container = ['api', 'worker', 'migrate'];

  test('sets only settings that the service has', () => {
    const ofCompose = container.flatMap((name) => Object.keys(compose.services[name].environment));
    const ofUnits = services.flatMap(([, text]) =>
      [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, list = '']) =>
        list.split(' ').map((pair) => pair.split('=')[0] ?? ''),
      ),
    );
    const ofChart = readdirSync(join(deploy, 'helm/crossdock/templates')).flatMap((file) =>
      [...read(`helm/crossdock/templates/${file}`).matchAll(/\{ name: ([A-Z_]+), value:/g)].map(
        ([, it]) => it,
      ),
    );
    for (const names of [ofCompose, ofUnits, ofChart]) {
      expect(names.length).toBeGreaterThan(4);
      expect(
        names.filter((name) => !NOT_OURS.includes(String(name)) && !SETTINGS.includes(String(name))),
      ).toEqual([]);
    }
  });

  test('limits the arenas of the allocator in each unit that stays running, and in the image', () => {
    const limit = /\bMALLOC_ARENA_MAX=2\b/;
    const running = services.filter(([, text]) => /bin\/crossdock (serve|worker)/.test(text));
    expect(running).toHaveLength(2);
    for (const [, text] of running) expect(text).toMatch(limit);
    expect(readFileSync(join(projectRoot, 'scripts/release/image/image.mjs'), 'utf8')).toMatch(limit);
  });

  test('gives the owner of the tables only to the migrations, and each process the secrets that it needs', () => {
    const serving = ['DATABASE_URL', ...Object.keys(DEVELOPMENT_SECRETS)];
    expect(compose.services.api.secrets).toEqual(serving);
    expect([...compose.services.worker.secrets].sort()).toEqual([...serving, 'DATABASE_DIRECT_URL'].sort());
    expect(compose.services.migrate.secrets).toEqual(['DATABASE_OWNER_URL']);
    const credentials = (name: string) =>
      [...(units[name] ?? '').matchAll(/^LoadCredential=(\w+):\/etc\/crossdock\/secrets\/\1$/gm)].map(
        ([, it]) => it,
      );
    expect(credentials('crossdock-api@.service')).toEqual(serving);
    expect(credentials('crossdock-worker.service')).toEqual(serving);
    expect(credentials('crossdock-migrate.service')).toEqual(['DATABASE_OWNER_URL']);
  });

  test('states the environment of each process, and no other file has a default', () => {
    for (const name of container)
      expect(compose.services[name].env_file).toBe('../../../${CROSSDOCK_ENVIRONMENT}.env');
    for (const [name, text] of services)
      expect([name, text]).toEqual([
        name,
        expect.stringContaining('\nEnvironmentFile=/etc/crossdock/crossdock.env\n'),
      ]);
    expect(valuesOf('').settings).toEqual({});
    expect(read('helm/crossdock/templates/migrate.yaml')).toContain(
      '{ name: APP_ENV, value: {{ include "crossdock.appEnv" . }} }',
    );
    for (const [name, text] of Object.entries(units))
      expect([name, text]).not.toEqual([name, expect.stringContaining('APP_ENV=')]);
    expect(readFileSync(join(projectRoot, 'scripts/release/image/image.mjs'), 'utf8')).not.toContain(
      'APP_ENV',
    );
  });

  test('runs the same commands', () => {
    const units = services.map(([, text]) => /bin\/crossdock (\S+)$/m.exec(text)?.[1]);
    const chart = ['api', 'worker', 'migrate'].map(
      (file) => /^ +args: \[(\w+)\]$/m.exec(read(`helm/crossdock/templates/${file}.yaml`))?.[1],
    );
    const composed = container.map((name) => compose.services[name].command);
    expect(composed).toEqual([['serve'], ['worker'], ['migrate', '--await-server', '120']]);
    expect([...units].sort()).toEqual(['migrate', 'serve', 'worker']);
    expect(chart).toEqual(['serve', 'worker', 'migrate']);
  });

  test('waits longer for the end of a process than the process takes', () => {
    for (const name of container)
      expect(parseInt(compose.services[name].stop_grace_period)).toBeGreaterThan(EXIT_SECONDS);
    for (const name of ['crossdock-api@.service', 'crossdock-worker.service'])
      expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(units[name] ?? '')?.[1])).toBeGreaterThan(EXIT_SECONDS);
    const api = read('helm/crossdock/templates/api.yaml');
    const pauseSeconds = Number(/setTimeout\(\(\) => \{\}, (\d+)\)/.exec(api)?.[1]) / 1000;
    const graceSeconds = (text: string) => Number(/terminationGracePeriodSeconds: (\d+)/.exec(text)?.[1]);
    expect(graceSeconds(api) - pauseSeconds).toBeGreaterThan(EXIT_SECONDS);
    expect(graceSeconds(read('helm/crossdock/templates/worker.yaml'))).toBeGreaterThan(EXIT_SECONDS);
  });

  test('checks the paths and ports that the service has', () => {
    const api = read('helm/crossdock/templates/api.yaml');
    expect([...api.matchAll(/httpGet: \{ path: (\S+), port: http \}/g)].map(([, path]) => path)).toEqual([
      ...['/health', '/health', '/ready'],
    ]);
    expect(read('helm/crossdock/templates/worker.yaml').match(/path: \/health, port: metrics/g)).toHaveLength(
      2,
    );
    const { PORT, METRICS_PORT } = compose.services.api.environment;
    expect(api).toContain(`containerPort: ${PORT}`);
    expect(api).toContain(`containerPort: ${METRICS_PORT}`);
    expect(read('proxy/20-compose.cfg')).toContain(` api:${PORT} `);
    for (const name of ['20-compose.cfg', '20-host.cfg'])
      expect(read(`proxy/${name}`)).toContain('option httpchk GET /ready\n');
    const instances = [...(units['crossdock.target'] ?? '').matchAll(/crossdock-api@(\d+)/g)].map(
      ([, it]) => it,
    );
    const proxied = [...read('proxy/20-host.cfg').matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, it]) => it);
    expect(instances).toEqual(proxied);
  });

  test('creates every file that compose.yaml and the units read', () => {
    const script = read('make-secrets.sh');
    const written = [...script.matchAll(/^ *write ([\w.]+) /gm)].map(([, it]) => it);
    const named = Object.keys(compose.secrets).filter((name) => name !== 'tls.pem');
    expect([...new Set(written)].sort()).toEqual(named.sort());
    expect(CREATED.filter((name) => !written.includes(name))).toEqual([]);
  });

  test('the chart has the version of the release, and the proxy of the ingress accepts the largest body', () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(parse(read('helm/crossdock/Chart.yaml'))).toMatchObject({ version, appVersion: version });
    const contract = readFileSync(join(projectRoot, 'generated', 'openapi.yaml'), 'utf8');
    const largest = Math.max(
      ...[...contract.matchAll(/x-max-body-bytes: (\d+)/g)].map(([, it]) => Number(it)),
    );
    const allowed = valuesOf('').ingress.annotations['nginx.ingress.kubernetes.io/proxy-body-size'];
    expect(parseInt(allowed) * 1024 * 1024).toBeGreaterThan(largest);
  });
});

test('files without templates are valid YAML', () => {
  for (const path of ['compose/compose.yaml', 'helm/crossdock/values.yaml', 'helm/crossdock/Chart.yaml'])
    for (const document of parseAllDocuments(read(path), { merge: true }))
      expect('errors' in document ? document.errors : []).toEqual([]);
});
