import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { ask } from '../service/client.js';
import { admitOnly, type TestDatabase } from '../service/database.js';
import { freePort, makeFolder, runProgram, until, type Running } from '../service/processes.js';

const SECRETS = {
  TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
  ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
  LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
};

/** Starts a command of a release that is not in the current folder, as a service manager does. */
export const crossdock = (installed: string, args: string[], env: Record<string, string>): Running =>
  runProgram(join(installed, 'bin', 'crossdock'), args, { PATH: process.env['PATH'], ...env }, '/');

/** Creates the service's login, and a folder with its secrets as files. `drop` removes the login. */
export async function makeSecrets({ ownerUrl }: TestDatabase) {
  const login = `login_${randomBytes(4).toString('hex')}`;
  const url = new URL(ownerUrl);
  [url.username, url.password] = [login, randomBytes(16).toString('hex')];
  await withClient(ownerUrl, (client) =>
    client.query(`create role ${login} login in role crossdock_app password '${url.password}'`),
  );
  await admitOnly(ownerUrl, login);
  const folder = await makeFolder();
  // Editors end a file with a line break.
  for (const [name, value] of Object.entries({ ...SECRETS, DATABASE_URL: url.href }))
    writeFileSync(join(folder, name), `${value}\n`);
  return {
    folder,
    drop: () => withClient(ownerUrl, (client) => client.query(`drop owned by ${login}; drop role ${login}`)),
  };
}

type Start = (args: string[], env: Record<string, string>) => Running;

/**
 * Migrates, creates a tenant, serves in production with secrets in files, logs in, and stops.
 *
 * @param start starts a command of the release
 * @param secrets the folder of the secrets, as the command sees it
 */
export async function expectToServe(start: Start, database: TestDatabase, secrets: string): Promise<void> {
  const owner = { APP_ENV: 'production', DATABASE_OWNER_URL: database.ownerUrl };
  expect(await start(['migrate'], owner).ended).toMatchObject({ code: 0 });
  const tenant = start(
    ['tenant-create', '--slug', 'miami', '--name', 'Miami', '--host', 'gateway.example.com'],
    owner,
  );
  expect(await tenant.ended).toEqual({ code: 0, signal: null });
  const [, password] = /shown this once: (\S+)/.exec(tenant.output()) ?? [];

  const port = String(await freePort());
  const env = {
    APP_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: port,
    SECRETS_DIR: secrets,
    TRUST_PROXY: '127.0.0.1',
  };
  const service = start(['serve'], env);
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (service.child.exitCode !== null) throw new Error(service.output());
    return (await ask(url, { path: '/ready' }).catch(() => undefined))?.status === 200;
  });
  const health = start(['health'], env);
  expect([await health.ended, health.output()]).toEqual([
    { code: 0, signal: null },
    expect.stringMatching(/^ok$/m),
  ]);
  const headers = { host: 'gateway.example.com', 'x-forwarded-proto': 'https' };
  const body = { action: 'login', username: 'admin', password };
  expect(await ask(url, { method: 'POST', path: '/api/login.php', headers, body })).toMatchObject({
    status: 200,
  });
  expect(await ask(url, { path: '/docs', headers })).toMatchObject({ status: 200 });
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, signal: null });
  expect(await start(['health'], env).ended).toEqual({ code: 1, signal: null });
}
