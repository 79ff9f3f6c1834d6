import { createHash, createHmac, createPrivateKey, generateKeyPairSync, pbkdf2Sync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { projectRoot } from '../../../src/config/project-root.js';
import { SECRET_FILES, SECRET_SETTINGS } from '../../../src/config/secret-files.js';
import { readSecretValues } from '../../../src/startup/doctor/secrets/secret-values.js';
import { compareWithHashes, hashSecrets } from '../../../src/startup/doctor/secrets/secret-hashes.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// What `doctor --json` and `doctor --compare` know of the secrets of an installation.

const LIMIT_MS = 120_000;
const NAMES = [...SECRET_SETTINGS, ...SECRET_FILES, 'TLS_KEY_FILE'];

/** Returns a value of the setting or file, whose secret contains `secret`. */
function sample(name: string, secret: string): string {
  if (/_CELLS$/.test(name)) return `cell-b=postgres://login:${secret}@db/crossdock`;
  if (/^DATABASE_/.test(name)) return `postgres://login:${secret}@db/crossdock`;
  if (/KEYS$/.test(name)) return `1:${secret}`;
  if (/HEADERS$/.test(name)) return `authorization=${secret}`;
  if (name === 'userlist.txt') return `"login" "${secret}"`;
  if (/^tls/i.test(name))
    return `-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n${keyOf(secret)}`;
  return secret;
}

/** Returns an Ed25519 key that a secret determines. */
const keyOf = (secret: string): string =>
  createPrivateKey({
    key: Buffer.concat([
      Buffer.from('302e020100300506032b657004220420', 'hex'),
      createHash('sha256').update(secret).digest(),
    ]),
    format: 'der',
    type: 'pkcs8',
  })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();

/** Writes a folder with every secret. @returns the environment of the service */
async function makeSecrets(secretOf: (name: string) => string): Promise<NodeJS.ProcessEnv> {
  const folder = await makeFolder();
  for (const name of NAMES) writeFileSync(join(folder, name), `${sample(name, secretOf(name))}\n`);
  return { SECRETS_DIR: folder, TLS_KEY_FILE: join(folder, 'TLS_KEY_FILE') };
}

const settingOf = (name: string) => name.split(' ')[0] ?? '';

afterAll(removeFolders);

describe('the comparison of secrets', () => {
  test('knows every setting that is a secret, and every secret file of deploy/', async () => {
    const { secrets, absent, unread } = readSecretValues(await makeSecrets((name) => `secret of ${name}`));
    expect(secrets.map(({ name }) => settingOf(name)).sort()).toEqual([...NAMES].sort());
    expect(secrets.filter(({ values }) => values.length !== 1)).toEqual([]);
    expect([absent, unread]).toEqual([[], []]);
    const deploy = (path: string) => readFileSync(join(projectRoot, 'deploy', path), 'utf8');
    const written = [...deploy('make-secrets.sh').matchAll(/^ *write (\S+) "/gm)].map(
      ([, name = '']) => name,
    );
    const mounted = Object.keys(parse(deploy('compose/compose.yaml'), { merge: true }).secrets);
    expect(written.length).toBeGreaterThan(5);
    expect([...written, ...mounted].filter((name) => !NAMES.includes(name))).toEqual([]);
    expect(SECRET_FILES.filter((name) => ![...written, ...mounted].includes(name))).toEqual([]);
  });

  test(
    'finds each secret that is still the same, and names each that is different',
    async () => {
      const isReplaced = (name: string) => NAMES.indexOf(name) % 2 === 0;
      const before = await hashSecrets(readSecretValues(await makeSecrets((name) => `secret of ${name}`)));
      const present = readSecretValues(
        await makeSecrets((name) => (isReplaced(name) ? `new secret of ${name}` : `secret of ${name}`)),
      );
      const comparison = await compareWithHashes(present, before);
      expect(comparison?.same.map(settingOf)).toEqual(NAMES.filter((name) => !isReplaced(name)));
      expect(comparison?.different.map(settingOf)).toEqual(NAMES.filter(isReplaced));
      expect([comparison?.removed, comparison?.notCompared]).toEqual([[], []]);
      expect(JSON.stringify(before)).not.toContain('secret of');
    },
    LIMIT_MS,
  );

  test(
    'finds a value in another setting, and says what it cannot compare',
    async () => {
      const folder = await makeFolder();
      const env = { SECRETS_DIR: folder, TLS_KEY_FILE: join(folder, 'absent.pem') };
      const before = await hashSecrets(
        readSecretValues({
          DATABASE_URL: 'postgres://login:leaked%20password@db/crossdock',
          AWS_SESSION_TOKEN: 'temporary',
          TLS_KEY_FILE: join(folder, 'absent.pem'),
        }),
      );
      writeFileSync(join(folder, 'LOGIN_PASSWORD'), 'leaked password\n');
      const present = readSecretValues({
        ...env,
        DATABASE_URL: 'postgres://login@db/crossdock',
        DATABASE_REPLICA_URL: 'postgres://login@db/crossdock?password=leaked%20password',
        ENCRYPTION_KEYS: '2:new,1:leaked password',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-scope=main',
      });
      const comparison = await compareWithHashes(present, before);
      expect(comparison).toMatchObject({
        same: ['DATABASE_REPLICA_URL', 'ENCRYPTION_KEYS', 'LOGIN_PASSWORD'],
        different: ['OTEL_EXPORTER_OTLP_HEADERS (x-scope)'],
        removed: ['AWS_SESSION_TOKEN'],
      });
      expect(comparison?.notCompared).toEqual(
        expect.arrayContaining(['DATABASE_URL', 'TLS_KEY_FILE', 'AWS_SECRET_ACCESS_KEY', 'tls.pem']),
      );
      expect(comparison?.notCompared).not.toContain('AWS_SESSION_TOKEN');
      expect(await compareWithHashes(present, { ...before, method: 'another' })).toBeUndefined();
    },
    LIMIT_MS,
  );

  const LOGIN_PASSWORD = 'of the login';
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = (type: 'pkcs1' | 'pkcs8') => privateKey.export({ type, format: 'pem' }).toString();
  const scram = (salt: string) => {
    const salted = pbkdf2Sync(LOGIN_PASSWORD, salt, 4096, 32, 'sha256');
    const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
    const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
    const server = keyOf('Server Key').toString('base64');
    return `SCRAM-SHA-256$4096:${Buffer.from(salt).toString('base64')}$${stored}:${server}`;
  };
  const md5 = `md5${createHash('md5').update(`${LOGIN_PASSWORD}login`).digest('hex')}`;
  const hex = 'ab12'.repeat(16);

  test.each([
    ['tls.pem', pem('pkcs8'), pem('pkcs1')],
    ['TLS_KEY_FILE', pem('pkcs1'), pem('pkcs8').replaceAll('\n', '\r\n')],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Authorization=Bearer abc', 'authorization=Bearer%20abc'],
    ...['Bearer  abc', 'bearer abc', '"Bearer abc"', 'Bearer "abc"', 'Bearer abc;x=1', 'abc'].map((value) => [
      'OTEL_EXPORTER_OTLP_HEADERS',
      'authorization=Bearer abc',
      `authorization=${value}`,
    ]),
    ['tls.pem', pem('pkcs8'), pem('pkcs1').replaceAll('\n', '\r')],
    ['tls.pem', pem('pkcs8'), pem('pkcs8').replaceAll('\n', '\n\n   ')],
    ['userlist.txt', `"login" "${LOGIN_PASSWORD}"`, `"login" "${md5}"`],
    ['userlist.txt', `"login" "${md5}"`, `"login" "${scram('one')}"`],
    ['userlist.txt', `"login" "${scram('one')}"`, `"login" "${scram('two')}"`],
    ['ENCRYPTION_KEYS', `1:${hex}`, `2:${hex.toUpperCase()}`],
    ['LOOKUP_KEY', hex, hex.toUpperCase()],
    ['DATABASE_URL', 'postgres://login:a%20b@db/x', 'postgres://login@db/x?password=a+b'],
  ])(
    '%s in another form is still the same',
    async (name, before, present) => {
      const valuesOf = async (text: string) => {
        const folder = await makeFolder();
        writeFileSync(join(folder, 'LOGIN_PASSWORD'), LOGIN_PASSWORD);
        writeFileSync(join(folder, name), text);
        const path = join(folder, name);
        return readSecretValues({
          SECRETS_DIR: folder,
          ...(/FILE$/.test(name) ? { TLS_KEY_FILE: path } : {}),
        });
      };
      const comparison = await compareWithHashes(
        await valuesOf(present),
        await hashSecrets(await valuesOf(before)),
      );
      expect([comparison?.same.map(settingOf).sort(), comparison?.different, comparison?.removed]).toEqual([
        ['LOGIN_PASSWORD', name].sort(),
        [],
        [],
      ]);
    },
    LIMIT_MS,
  );

  test(
    'a file of the pooler that is as before is the same, although the login has another password now',
    async () => {
      const valuesOf = async (password: string) => {
        const folder = await makeFolder();
        writeFileSync(join(folder, 'LOGIN_PASSWORD'), password);
        writeFileSync(join(folder, 'userlist.txt'), `"login" "${md5}"\n`);
        return readSecretValues({ SECRETS_DIR: folder });
      };
      const before = await hashSecrets(await valuesOf(LOGIN_PASSWORD));
      expect(await compareWithHashes(await valuesOf('a new one'), before)).toMatchObject({
        same: ['userlist.txt'],
        different: ['LOGIN_PASSWORD'],
      });
      const { privateKey: other } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const folder = await makeFolder();
      writeFileSync(join(folder, 'tls.pem'), other.export({ type: 'pkcs8', format: 'pem' }));
      const tls = { secrets: [{ name: 'tls.pem', values: [pem('pkcs8')] }], absent: [], unread: [] };
      expect(
        (await compareWithHashes(readSecretValues({ SECRETS_DIR: folder }), await hashSecrets(tls)))
          ?.different,
      ).toEqual(['tls.pem']);
    },
    LIMIT_MS,
  );

  test(
    'a key that cannot be read is not compared, and neither same nor different',
    async () => {
      const valuesOf = async (text: string) => {
        const folder = await makeFolder();
        writeFileSync(join(folder, 'tls.pem'), text);
        return readSecretValues({ SECRETS_DIR: folder });
      };
      const damaged = await valuesOf(pem('pkcs8').replace(/[A-Z]/g, '?'));
      expect(damaged.unread).toEqual(['tls.pem']);
      const comparison = await compareWithHashes(damaged, await hashSecrets(await valuesOf(pem('pkcs8'))));
      expect(comparison).toMatchObject({
        same: [],
        different: [],
        removed: [],
        notCompared: expect.arrayContaining(['tls.pem']),
      });
    },
    LIMIT_MS,
  );

  test('names a file that an operator has added to the folder, and not those of the blocks', async () => {
    const folder = await makeFolder();
    for (const name of ['LOGIN_PASSWORD', 'smtp-password', 'before', 'replaced-lookup-key', 'before.new'])
      writeFileSync(join(folder, name), 'a secret');
    const present = readSecretValues({ SECRETS_DIR: folder });
    expect(present.unread).toEqual(['smtp-password']);
    const comparison = await compareWithHashes(present, await hashSecrets(present));
    expect(comparison).toMatchObject({ same: ['LOGIN_PASSWORD'], different: [], removed: [] });
    expect(comparison?.notCompared).toContain('smtp-password');
  });

  test('two reports do not show that they have a secret in common', async () => {
    const values = { secrets: [{ name: 'LOGIN_PASSWORD', values: ['weak'] }], absent: [], unread: [] };
    const [one, other] = [await hashSecrets(values), await hashSecrets(values)];
    expect(one.hashes).not.toEqual(other.hashes);
  });
});
