import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parseSettings } from '../../../src/config/settings.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// deploy/make-secrets.sh, for one deployment and for several. shared-server.test.ts uses the secrets.

const deploy = join(projectRoot, 'deploy');

afterAll(removeFolders);

const makeSecrets = (args: string[]) =>
  spawnSync('sh', [join(deploy, 'make-secrets.sh'), ...args], { encoding: 'utf8' });

const escape = (text: string) => text.replace(/[.?[\]]/g, '\\$&');

const secretOf = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8').trim();

describe('make-secrets.sh', () => {
  test.each([
    { args: [], direct: '127.0.0.1:5432/crossdock', pooled: undefined },
    { args: ['db.internal'], direct: 'db.internal:5432/crossdock', pooled: undefined },
    {
      args: ['db.internal', '--sslmode', 'verify-full', '--sslrootcert', '/etc/crossdock/database-ca.pem'],
      direct: 'db.internal:5432/crossdock?sslmode=verify-full&sslrootcert=/etc/crossdock/database-ca.pem',
      pooled: undefined,
    },
    {
      args: ['postgres', 'pgbouncer', '--sslmode', 'disable'],
      direct: 'postgres:5432/crossdock?sslmode=disable',
      pooled: 'pgbouncer:6432/crossdock?sslmode=disable',
    },
    {
      args: ['db.internal:5433', 'pool.internal'],
      direct: 'db.internal:5433/crossdock',
      pooled: 'pool.internal:6432/crossdock',
    },
    {
      args: ['postgres', 'pgbouncer:6432'],
      direct: 'postgres:5432/crossdock',
      pooled: 'pgbouncer:6432/crossdock',
    },
    {
      args: ['2001:db8::5', '[::1]:7000'],
      direct: '[2001:db8::5]:5432/crossdock',
      pooled: '[::1]:7000/crossdock',
    },
    {
      args: ['--name', 'crossdock_staging', '[2001:db8::5]'],
      direct: '[2001:db8::5]:5432/crossdock_staging',
      pooled: undefined,
    },
    { args: ['db', 'pool', '--name', 'b2'], direct: 'db:5432/b2', pooled: 'pool:6432/b2' },
  ])('$args: the URLs have host, port and name', async ({ args, direct, pooled }) => {
    const folder = join(await makeFolder(), 'secrets');
    expect(makeSecrets([folder, ...args])).toMatchObject({ status: 0, stderr: '' });
    const [, name] = /\/(\w+)/.exec(direct) ?? [];
    const url = (role: string, at: string) =>
      new RegExp(`^postgres://${name}_${role}:[0-9a-f]{64}@${escape(at)}$`);
    expect(secretOf(folder, 'DATABASE_OWNER_URL')).toMatch(url('owner', direct));
    expect(secretOf(folder, 'DATABASE_URL')).toMatch(url('login', pooled ?? direct));
    expect(existsSync(join(folder, 'DATABASE_DIRECT_URL'))).toBe(pooled !== undefined);
    if (pooled) expect(secretOf(folder, 'DATABASE_DIRECT_URL')).toMatch(url('login', direct));
    const { faults } = parseSettings({
      APP_ENV: 'development',
      SECRETS_DIR: folder,
      ...(pooled ? { DATABASE_POOLER: 'transaction' } : {}),
    });
    expect(faults).toEqual([]);
  });

  test.each<[string[]]>([
    [['db:port']],
    [['db:0']],
    [['db:65536']],
    [['db:']],
    [['db', 'pool:6432x']],
    [['[::1']],
    [['[::g]:5432']],
    [['db/other']],
    [['user@db']],
    [['db internal']],
    [['-db']],
    [['db\n5432']],
    [['db', 'pool', '5433']],
    [['--name', '']],
    [['--name', 'Crossdock']],
    [['--name', 'a-b']],
    [['--name', "a';drop"]],
    [['--name', '1a']],
    [['--name', 'a'.repeat(41)]],
    [['--name']],
    [['--port', '5433']],
    [['--sslmode']],
    [['--sslmode', 'require']],
    [['--sslrootcert', '/ca.pem']],
    [['--sslmode', 'disable', '--sslrootcert', '/ca.pem']],
    [['--sslmode', 'verify-full', '--sslrootcert', 'ca.pem']],
    [['--sslmode', 'verify-full', '--sslrootcert', '/a&b']],
  ])('%j: is refused with the reason and the usage, and writes nothing', async (args) => {
    const folder = join(await makeFolder(), 'secrets');
    const { status, stderr } = makeSecrets([folder, ...args]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^\S.*\.\nUsage: /s);
    expect(existsSync(folder)).toBe(false);
  });

  test('does not overwrite secrets, and gives no two deployments a common one', async () => {
    const folders = [join(await makeFolder(), 'a'), join(await makeFolder(), 'b')];
    for (const folder of folders) expect(makeSecrets([folder]).status).toBe(0);
    expect(makeSecrets([String(folders[0])]).status).not.toBe(0);
    const [first, second] = folders.map((folder) =>
      readdirSync(folder).flatMap((name) => secretOf(folder, name).match(/[0-9a-f]{64}/g) ?? []),
    );
    expect(first?.length).toBeGreaterThan(7);
    expect(first?.filter((secret) => second?.includes(secret))).toEqual([]);
  });
});
