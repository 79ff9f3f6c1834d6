import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { surveyConfig } from '../../../src/config/config.js';
import { KEYS } from '../../support/rehearsal/installation.js';
import { endProcesses, makeFolder, removeFolders, run } from '../../support/service/processes.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { COMPLETE, linesOfStart } from './start-lines.js';

// Settings that are unsafe: what the doctor says of them, and what a start does.

const LIMIT_MS = 120_000;

let database: DocumentedDatabase;

beforeAll(async () => {
  database = await documentedDatabase();
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await database.drop();
  await removeFolders();
}, LIMIT_MS);

const settings = () => ({ ...COMPLETE, DATABASE_URL: database.urls.DATABASE_URL });

/** Returns the warnings and problems of these checks. */
async function examine(env: Record<string, string>, checks: string[]): Promise<string[]> {
  const production = { APP_ENV: 'production', DEPLOYMENT: 'crossdock-production', TRUST_PROXY: '127.0.0.1' };
  const doctor = run('src/commands/doctor.js', { ...KEYS, ...production, ...settings(), ...env });
  await doctor.ended;
  return doctor
    .output()
    .split('\n')
    .filter((line) => new RegExp(`^(warning|problem) +(${checks.join('|')}) `).test(line))
    .map((line) => line.replace(/^(\S+) +\S+ +/, '$1 '));
}

test(
  'a folder of secrets that everybody may write is a line of the start, and a warning of the doctor',
  async () => {
    const folder = await makeFolder();
    writeFileSync(join(folder, 'AWS_SECRET_ACCESS_KEY'), 'secret');
    writeFileSync(join(folder, 'AWS_ACCESS_KEY_ID'), 'id');
    const env = { SECRETS_DIR: folder };
    expect(await linesOfStart({ ...settings(), ...env })).toEqual([]);
    chmodSync(folder, 0o777);
    const line = `Everybody on this machine may write ${folder} (mode 0777), and so choose the secrets of the service. Run chmod o-w ${folder}, and find out whether somebody has changed a secret.`;
    expect(await linesOfStart({ ...settings(), ...env })).toEqual([line]);
    expect(await examine(env, ['secrets'])).toContain(`warning ${line}`);
  },
  LIMIT_MS,
);

test(
  'proxies that are everybody, and a short password of a database, are lines of the start and warnings of the doctor',
  async () => {
    const url = new URL(database.urls.DATABASE_URL);
    const env = {
      TRUST_PROXY: '127.0.0.1,0.0.0.0/0,::/0',
      DATABASE_OWNER_URL: Object.assign(new URL(url), { password: 'short' }).href,
    };
    const proxyLine = (range: string) =>
      `TRUST_PROXY contains ${range}, so each client can choose the address that limits and logs show. Name only the addresses of your proxies.`;
    const lines = [
      proxyLine('0.0.0.0/0'),
      proxyLine('::/0'),
      'The password in DATABASE_OWNER_URL has fewer than 12 characters. Choose a random password with alter role, and change the setting.',
    ];
    expect(await examine(env, ['settings', 'secrets'])).toEqual(
      expect.arrayContaining(lines.map((line) => `warning ${line}`)),
    );
    // A start also examines the connection of DATABASE_OWNER_URL, if it has one.
    expect(await linesOfStart({ ...settings(), TRUST_PROXY: env.TRUST_PROXY })).toEqual(lines.slice(0, 2));
  },
  LIMIT_MS,
);

describe('one secret in two settings', () => {
  const SAME = '0123456789abcdef'.repeat(4);
  const OTHER = 'fedcba9876543210'.repeat(4);

  test.each([
    ['TOKEN_KEYS', 'ENCRYPTION_KEYS', { TOKEN_KEYS: `k1:${OTHER},k2:${SAME.toUpperCase()}` }],
    ['TOKEN_KEYS', 'LOOKUP_KEY', { TOKEN_KEYS: `k1:${OTHER}` }],
    ['LOOKUP_KEY', 'ENCRYPTION_KEYS', { LOOKUP_KEY: SAME }],
    // An old key, which still decrypts.
    ['LOOKUP_KEY', 'ENCRYPTION_KEYS', { ENCRYPTION_KEYS: `2:${'02468ace13579bdf'.repeat(4)},1:${OTHER}` }],
  ])('%s and %s: a start is refused with a line that names both', (one, other, env) => {
    const given = {
      TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
      ENCRYPTION_KEYS: `1:${SAME}`,
      LOOKUP_KEY: OTHER,
      DATABASE_URL: 'postgres://a@localhost/a',
      TRUST_PROXY: '127.0.0.1',
      ...env,
    };
    const line = `${one} and ${other} contain the same secret; give ${one} a value of openssl rand -hex 32 of its own, as "Changing secrets" in docs/operations.md describes`;
    expect(surveyConfig({ APP_ENV: 'staging', ...given }).faults).toContain(line);
    expect(surveyConfig({ APP_ENV: 'production', ...given }).faults).toContain(line);
    expect(surveyConfig({ APP_ENV: 'development', ...given }).faults).toEqual([]);
  });

  test(
    'the process ends with 1 before it has reached the database',
    async () => {
      const TRUST_PROXY = '127.0.0.1';
      const env = { ...KEYS, ...settings(), APP_ENV: 'production', TRUST_PROXY, LOOKUP_KEY: SAME };
      const server = run('src/main.js', env);
      expect(await server.ended).toMatchObject({ code: 1 });
      expect(server.output()).toMatch(/^LOOKUP_KEY and ENCRYPTION_KEYS contain the same secret; .*\n$/);
      expect(server.output()).not.toContain(SAME);
    },
    LIMIT_MS,
  );
});
