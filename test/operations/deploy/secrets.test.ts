import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readConfig, surveyConfig } from '../../../src/config/config.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { SECRET_SETTINGS, withSecretFiles } from '../../../src/config/secret-files.js';
import { parseSettings } from '../../../src/config/settings.js';
import { makeMailer } from '../../../src/platform/mail/transport.js';
import { redact } from '../../../src/startup/doctor/report.js';
import { startSes, type Ses } from '../../support/receivers/ses.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// The table "Every secret" of docs/deploy.md, the settings, and the files of deploy/ say the same.

const deploy = join(projectRoot, 'deploy');
const read = (path: string) => readFileSync(join(deploy, path), 'utf8');
const PROCESSES = ['api', 'worker', 'migrate'];

type Row = { secret: string; processes: string[]; compose: string; systemd: string; helm: string };

function readTable(): Row[] {
  const [, section = ''] = readFileSync(join(projectRoot, 'docs', 'deploy.md'), 'utf8').split(
    '### Every secret\n',
  );
  return [...section.matchAll(/^\| `([A-Z_]+)` +\| (.*?) *\| (.*?) *\| (.*?) *\| (.*?) *\|$/gm)].map(
    ([, secret = '', readers = '', composed = '', systemd = '', helm = '']) => ({
      secret,
      processes: [...readers.matchAll(/`(\w+)`/g)]
        .flatMap(([, name = '']) => name)
        .filter((name) => PROCESSES.includes(name))
        .sort(),
      compose: composed,
      systemd,
      helm,
    }),
  );
}

const TABLE = readTable();
const EXTENSIONS = readdirSync(join(deploy, 'optional'), { recursive: true, encoding: 'utf8' }).map((path) =>
  join('optional', path),
);

type Place = { secret: string; process: string; file: string };

const inCompose = (): Place[] =>
  ['compose/compose.yaml', ...EXTENSIONS.filter((path) => basename(path) === 'compose.yaml')].flatMap(
    (file) => {
      const { services, secrets } = parse(read(file), { merge: true });
      return PROCESSES.flatMap((process) =>
        ((services[process]?.secrets ?? []) as string[]).map((secret) => {
          expect(secrets[secret].file).toBe(`../../../secrets-\${CROSSDOCK_ENVIRONMENT}/${secret}`);
          return { secret, process, file: basename(file) === file ? file : file.replace(/^compose\//, '') };
        }),
      );
    },
  );

const credentialsIn = (text: string): string[] =>
  [...text.matchAll(/^LoadCredential=(\w+):\/etc\/crossdock\/secrets\/\1$/gm)].map(
    ([, secret = '']) => secret,
  );

const processesOf = (text: string): string[] =>
  PROCESSES.filter((process) =>
    new RegExp(`/etc/systemd/system/crossdock-${process}@?\\.service\\.d/`).test(text),
  );

const inUnits = (): Place[] => [
  ...[...readdirSync(join(deploy, 'systemd'))].flatMap((name) => {
    const [, process = ''] = /^crossdock-(\w+)@?\.service$/.exec(name) ?? [];
    return credentialsIn(read(`systemd/${name}`)).map((secret) => ({ secret, process, file: 'the unit' }));
  }),
  ...EXTENSIONS.filter((path) => path.endsWith('.conf')).flatMap((file) =>
    processesOf(read(file)).flatMap((process) =>
      credentialsIn(read(file)).map((secret) => ({ secret, process, file })),
    ),
  ),
];

const inChart = (): Place[] =>
  PROCESSES.flatMap((process) => {
    const text = read(`helm/crossdock/templates/${process}.yaml`);
    const secrets = SECRET_SETTINGS.filter((secret) => new RegExp(`"${secret}"|key: ${secret},`).test(text));
    return secrets.map((secret) => ({
      secret,
      process,
      file: process === 'migrate' ? 'secrets.owner' : 'secrets.service',
    }));
  });

/** Returns the processes that get each secret, in the order of the settings. */
const bySecret = (places: Pick<Place, 'secret' | 'process'>[]) =>
  Object.fromEntries(
    SECRET_SETTINGS.map((name) => [
      name,
      places
        .filter(({ secret }) => secret === name)
        .map(({ process }) => process)
        .sort(),
    ]),
  );

afterAll(removeFolders);

describe('the table of secrets', () => {
  test('has every setting that is a secret, once', () => {
    expect(TABLE.map(({ secret }) => secret).sort()).toEqual([...SECRET_SETTINGS].sort());
  });

  test.each<[string, () => Place[]]>([
    ['compose', inCompose],
    ['systemd', inUnits],
    ['the chart', inChart],
  ])('names the processes to which %s gives each secret', (_, places) => {
    const documented = TABLE.flatMap(({ secret, processes }) =>
      processes.map((process) => ({ secret, process })),
    );
    expect(bySecret(places())).toEqual(bySecret(documented));
  });

  test('names the file that gives it', () => {
    const notNamed = (places: Place[], column: 'compose' | 'systemd' | 'helm') =>
      places.filter(({ secret, file }) => {
        const cell = TABLE.find((row) => row.secret === secret)?.[column] ?? '';
        return !cell.includes(file) && !cell.includes(basename(file));
      });
    expect(notNamed(inCompose(), 'compose')).toEqual([]);
    expect(notNamed(inUnits(), 'systemd')).toEqual([]);
    expect(notNamed(inChart(), 'helm')).toEqual([]);
  });
});

/** Their names resemble those of secrets. */
const NO_SECRETS = ['SECRETS_DIR', 'TLS_KEY_FILE', 'PASSWORD_HASH_COST', 'PASSWORD_RESET_URL'];

describe('the settings that are secrets', () => {
  test('are all settings whose name says so', () => {
    const names = Object.keys(parseSettings({}).settings);
    const secret = names.filter(
      (name) =>
        /KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL|HEADERS$|^DATABASE_.*(URL|CELLS)$/.test(name) &&
        !NO_SECRETS.includes(name),
    );
    // Only commands read the other one, without the settings of a process.
    expect([...secret, 'DATABASE_OWNER_CELLS'].sort()).toEqual([...SECRET_SETTINGS].sort());
  });

  test.each([...SECRET_SETTINGS])('%s is read from a file of its name', async (name) => {
    const folder = await makeFolder();
    writeFileSync(join(folder, name), 'value\n');
    const { given, faults } = withSecretFiles({ SECRETS_DIR: folder });
    expect(given[name]).toBe('value');
    expect(faults).toEqual([]);
  });

  test('are in no report of doctor', () => {
    const url = (n: number) => `postgres://login:password-of-url-${n}@127.0.0.1/crossdock`;
    const env = {
      APP_ENV: 'development',
      DATABASE_URL: url(1),
      DATABASE_DIRECT_URL: url(2),
      DATABASE_OWNER_URL: url(3),
      DATABASE_REPLICA_URL: url(4),
      DATABASE_CELLS: `cell-b=${url(5)}`,
      DATABASE_POOLER: 'transaction',
      TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
      ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
      LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
      SES_REGION: 'us-east-1',
      MAIL_FROM: 'a@example.com',
      AWS_ACCESS_KEY_ID: 'AKIDSECRETS',
      AWS_SECRET_ACCESS_KEY: 'secret-access-key',
      AWS_SESSION_TOKEN: 'session-token',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=collector-token',
    };
    const { config, faults } = surveyConfig(env);
    expect(faults).toEqual([]);
    const values = Object.entries(env)
      .filter(([name]) => SECRET_SETTINGS.some((secret) => secret === name))
      .map(([, value]) => /:\/\/\w+:([^@]+)@/.exec(value)?.[1] ?? value.replace(/^(\w+[:=])/, ''));
    expect(values).toHaveLength(SECRET_SETTINGS.length - 1);
    const message = `The library says ${values.join(' and ')}`;
    const [line] = redact([{ check: 'any', level: 'problem', message, remedy: message }], config);
    expect(values.filter((value) => JSON.stringify(line).includes(value))).toEqual([]);
  });
});

test('a secret that cannot be read, or has a wrong form, is one line', async () => {
  const folder = await makeFolder();
  for (const name of ['TOKEN_KEYS', 'DATABASE_URL']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'LOOKUP_KEY'), 'x');
  const keys = { ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`, TRUST_PROXY: '127.0.0.1' };
  const { faults } = surveyConfig({ APP_ENV: 'production', SECRETS_DIR: folder, ...keys });
  expect(faults.map((fault) => fault.split(' ').slice(0, 3).join(' '))).toEqual([
    'DATABASE_URL cannot be',
    'TOKEN_KEYS cannot be',
    'LOOKUP_KEY must be',
  ]);
});

describe('a folder of secrets that cannot be read', () => {
  const SETTINGS_OF_SERVER = {
    APP_ENV: 'production',
    TRUST_PROXY: '127.0.0.1',
    DATABASE_POOLER: 'transaction',
    DATABASE_CELL: 'home',
  };

  test('is one line, without the settings that would come from it', () => {
    expect(surveyConfig({ ...SETTINGS_OF_SERVER, SECRETS_DIR: '/nowhere' }).faults).toEqual([
      'SECRETS_DIR names a folder that does not exist',
    ]);
    expect(
      surveyConfig({ ...SETTINGS_OF_SERVER, SECRETS_DIR: join(deploy, 'make-secrets.sh') }).faults,
    ).toEqual(['SECRETS_DIR names a file, not a folder']);
  });

  test('does not hide the faults of other settings', () => {
    const { faults } = surveyConfig({
      APP_ENV: 'production',
      SECRETS_DIR: '/nowhere',
      PASSWORD_HASH_COST: '4',
    });
    expect(faults).toEqual([
      'SECRETS_DIR names a folder that does not exist',
      expect.stringMatching(/^TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY, are required/),
      expect.stringMatching(/^PASSWORD_HASH_COST must be/),
    ]);
  });

  const [title, declare] =
    process.getuid?.() === 0 ? ['', test] : [' (needs root, to be another user)', test.skip];
  declare(`is one line of worker and doctor if another user owns it${title}`, async () => {
    const folder = await makeFolder();
    chmodSync(folder, 0o700);
    for (const command of ['worker', 'doctor']) {
      const { status, stderr } = spawnSync(
        process.execPath,
        [join(projectRoot, 'bin', 'crossdock'), command],
        {
          encoding: 'utf8',
          uid: 65_534,
          gid: 65_534,
          env: { ...SETTINGS_OF_SERVER, PATH: process.env['PATH'], SECRETS_DIR: folder },
        },
      );
      expect([command, status, stderr.trim().split('\n')]).toEqual([
        command,
        command === 'doctor' ? 2 : 1,
        [expect.stringMatching(/SECRETS_DIR names a folder that cannot be read: EACCES/)],
      ]);
    }
  });
});

test('two keys of one name are refused, without the keys in the message', () => {
  const [first, second] = ['ab'.repeat(32), 'cd'.repeat(32)];
  const faultsOf = (env: Record<string, string>) => surveyConfig({ APP_ENV: 'development', ...env }).faults;
  expect(faultsOf({ ENCRYPTION_KEYS: `1:${first},2:${first},1:${second}` })).toEqual([
    'ENCRYPTION_KEYS has two keys with the name 1; give the new key another name',
  ]);
  expect(faultsOf({ TOKEN_KEYS: `k1:${first},k1:${second}` })).toEqual([
    'TOKEN_KEYS has two keys with the name k1; give the new key another name',
  ]);
  expect(faultsOf({ TOKEN_KEYS: `k1:${first},k2:${second}` })).toEqual([]);
  expect(faultsOf({ TOKEN_KEYS: `${first},${first}` }).join()).not.toContain('ab');
});

describe('the credentials of Amazon SES', () => {
  let ses: Ses;
  const SETTINGS = { APP_ENV: 'development', SES_REGION: 'us-east-1', MAIL_FROM: 'notices@gateway.example' };
  const KEY = { AWS_ACCESS_KEY_ID: 'AKIDOFAFILE', AWS_SECRET_ACCESS_KEY: 'secret' };

  beforeAll(async () => {
    ses = await startSes();
  });

  afterAll(() => ses.stop());

  async function folderWith(files: Record<string, string>): Promise<string> {
    const folder = await makeFolder();
    for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), `${value}\n`);
    return folder;
  }

  test.each([
    ['a key', KEY, undefined],
    ['a temporary key', { ...KEY, AWS_SESSION_TOKEN: 'token' }, 'token'],
  ])('%s in SECRETS_DIR signs the mail', async (_, files, token) => {
    const { mail } = readConfig({ ...SETTINGS, SES_ENDPOINT: ses.url, SECRETS_DIR: await folderWith(files) });
    const mailer = makeMailer(mail);
    const sent = await mailer.send({
      id: '01930a3e-7c1d-7e11-9c5a-2f4b8d6e0f01',
      senderName: 'Gateway',
      recipient: { address: 'ada@example.com', name: 'Ada' },
      subject: 'Test',
      text: 'Test',
      html: '<p>Test</p>',
      date: new Date(0),
    });
    mailer.close();
    expect(sent).toMatchObject({ outcome: 'sent' });
    const headers = ses.accepted.at(-1)?.headers;
    expect(headers?.authorization).toContain('Credential=AKIDOFAFILE/');
    expect(headers?.['x-amz-security-token']).toBe(token);
  });

  test('are refused by half, before anything starts', () => {
    const faultsOf = (env: Record<string, string>) => surveyConfig({ ...SETTINGS, ...env }).faults;
    for (const [name, value] of Object.entries(KEY))
      expect(faultsOf({ [name]: value })).toEqual([
        'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together',
      ]);
    expect(faultsOf({ AWS_SESSION_TOKEN: 'token' })).toEqual([
      'AWS_SESSION_TOKEN needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY beside it',
    ]);
    expect(faultsOf(KEY)).toEqual([]);
    expect(faultsOf({})).toEqual([]);
  });
});
