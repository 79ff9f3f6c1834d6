import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { PROGRAMS } from '../../../scripts/build.mjs';
import { stageApplication } from '../../../scripts/release/application.mjs';
import { bundleFilesOf } from '../../../scripts/release/bundle-files.mjs';
import { writeImage } from '../../../scripts/release/image/image.mjs';
import { writeTarball } from '../../../scripts/release/tarball.mjs';
import { readOwnerUrl } from '../../../src/config/config.js';
import { developmentConfig } from '../../support/staging/development.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { DEMO, DEMO_BACKUP_CODES } from '../../../fixtures/demo/demo.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { crossdock, expectToServe, makeSecrets } from '../../support/release/installed.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import {
  endProcesses,
  freePort,
  makeFolder,
  removeFolders,
  statusOf,
  until,
} from '../../support/service/processes.js';
import { matching } from '../../support/assertions/matching.js';

// test/long/release.test.ts builds whole releases. These tests have the dependencies of the clone.

const REVISION = { version: '1.2.3', commit: 'c0ffee', epoch: 1_700_000_000 };

afterEach(endProcesses);
afterAll(removeFolders);

describe('the application of a release', () => {
  let installed: string;
  let database: TestDatabase;

  beforeAll(async () => {
    installed = await makeFolder();
    database = await freshDatabase();
    symlinkSync(join(projectRoot, 'node_modules'), join(installed, 'node_modules'));
    stageApplication(projectRoot, installed, REVISION);
  });

  afterAll(() => database.drop());

  test('contains the build, the contract, the migrations and the documents, and no program of development', () => {
    for (const path of [
      'dist/src/worker.js',
      'generated/openapi.yaml',
      'docs/deploy.md',
      'deploy/compose/compose.yaml',
    ])
      expect([path, existsSync(join(installed, path))]).toEqual([path, true]);
    const migrations = (root: string) => readdirSync(join(root, 'prisma', 'migrations')).sort();
    expect(migrations(installed)).toEqual(migrations(projectRoot));
    expect(existsSync(join(installed, 'dist', 'scripts', 'measure'))).toBe(false);
    // Records of builds have times, and releases of one commit must not differ.
    const built = (root: string) =>
      readdirSync(join(root, 'dist', 'console'), { recursive: true }).filter((path) =>
        String(path).endsWith('.built'),
      );
    expect([built(projectRoot).length, built(installed).length]).toEqual([1, 0]);
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ gitHead: 'c0ffee', scripts: { migrate: 'node bin/crossdock migrate' } });
    expect(manifest).not.toHaveProperty('devDependencies');
    expect(readFileSync(join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8')).toMatch(
      /^fastify \d\S+ \(MIT\)$/m,
    );
  });

  test('names its changes after its version, in CHANGELOG.md and in the documentation', () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
    const text = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
    const [, unreleased = ''] = /^## Unreleased\n([^]*?)^## /m.exec(text(projectRoot, 'CHANGELOG.md')) ?? [];
    expect(unreleased.length).toBeGreaterThan(0);
    const staged = join(installed, 'staged');
    stageApplication(projectRoot, staged, { ...REVISION, version });
    const changelog = text(staged, 'CHANGELOG.md');
    expect(changelog).toContain(`\n## ${version} (2023-11-14)\n${unreleased}`);
    expect(changelog).not.toContain('## Unreleased');
    const site = join('generated', 'site');
    const later = readdirSync(join(staged, site), { recursive: true })
      .map(String)
      .filter((path) => /\.(html|md|txt|json|atom)$/.test(path))
      .filter((path) => /not.released.yet/.test(text(staged, join(site, path))));
    expect(later).toEqual([]);
    expect(text(staged, join(site, 'changelog-operators.html'))).toContain(`${version} (2023-11-14)`);
  });

  test('contains no demo data and no program that loads them', () => {
    const dist = join(installed, 'dist');
    const paths = readdirSync(dist, { recursive: true }).map(String).sort();
    const ofDevelopment = matching(
      /development|fixtures|tools|demo|clone|seed-/,
      'fixtures/clone.js',
      'scripts/develop/demo-load.js',
    );
    expect(paths.length).toBeGreaterThan(300);
    expect(paths.filter((path) => path.search(ofDevelopment) !== -1)).toEqual([]);
    const scripts = paths
      .filter((path) => /\.(m?js|map|json)$/.test(path))
      .map((path) => {
        return { path, text: readFileSync(join(dist, path), 'utf8') };
      });
    // The bundler precedes each module with its path, and source maps name it.
    const loaders = matching(
      /fixtures\/(clone|demo)(?!\/values\/seeded-random)|tools\/load\//,
      'fixtures/demo/demo.ts',
    );
    expect(scripts.filter(({ text }) => text.search(loaders) !== -1).map(({ path }) => path)).toEqual([]);
    const rows = [...DEMO_BACKUP_CODES, ...Object.values(DEMO.users), ...Object.values(DEMO.couriers)];
    const others = ['Island Express', 'IEX-1001', DEMO.announcedNumber];
    const holders = (texts: string[]) =>
      scripts.filter(({ text }) => texts.some((each) => text.includes(each))).map(({ path }) => path);
    expect(holders([...rows, ...others])).toEqual([]);
    // What staging and production refuse, in one module and in the one chunk that contains it.
    const list = holders([DEMO.password, DEMO.totpSecret, ...Object.values(DEMO.apiKeys)]);
    expect(list.filter((path) => !path.startsWith('chunks/'))).toEqual(['src/config/published.js']);
    expect(list).toHaveLength(2);
  });

  test('refuses every command without APP_ENV in one line, and changes nothing', async () => {
    const env = {
      DATABASE_OWNER_URL: database.ownerUrl,
      DATABASE_URL: database.ownerUrl,
      NODE_ENV: 'production',
    };
    const commands = [
      ['serve'],
      ['worker'],
      ['migrate'],
      ['migrate', '--status'],
      ['tenant-create', '--slug', 'a', '--name', 'A', '--host', 'a.example'],
      ['tenant-move', '--slug', 'a', '--status'],
      ['outbound', '--pause', 'a test'],
      ['rewrap'],
      ['take-over', '--from', 'x', '--database', 'x'],
      ['anonymise'],
      ['restore-report', '--since', '2026-01-01T10:00:00Z', '--out', join(installed, 'report')],
      ['rehash'],
      ['remove-published'],
      ['reset-admin', '--tenant', 'a'],
    ];
    // serve starts child. Started by a person, it says so, and ends.
    const programs = PROGRAMS.map((path) => basename(path, '.ts')).filter(
      (name) => !['doctor', 'health', 'print-bridge', 'child'].includes(name),
    );
    const named = commands.map(([name = '']) => (name === 'serve' ? 'main' : name));
    expect([...new Set(named)].sort()).toEqual(programs.sort());
    for (const args of commands) {
      const refused = crossdock(installed, args, env);
      expect([args, await refused.ended]).toEqual([args, { code: 1, signal: null }]);
      expect([args, refused.output()]).toEqual([
        args,
        expect.stringMatching(/^APP_ENV is required: [^\n]+\n$/),
      ]);
    }
    const child = spawnSync(process.execPath, [join(installed, 'dist', 'src', 'child.js'), 'api'], {
      encoding: 'utf8',
      env,
    });
    expect([child.status, child.stderr]).toEqual([
      1,
      expect.stringMatching(/^This program is a part of crossdock serve, [^\n]+\n$/),
    ]);
    const doctor = crossdock(installed, ['doctor'], env);
    expect(await doctor.ended).toEqual({ code: 1, signal: null });
    expect(doctor.output()).toMatch(/^problem {2}settings {5}APP_ENV is required: /m);
  }, 60_000);

  test('cannot load demo data: in development it serves an empty database without them', async () => {
    const own = await freshDatabase();
    const port = String(await freePort());
    const service = crossdock(installed, ['serve'], {
      ...{ APP_ENV: 'development', DATABASE_URL: own.ownerUrl, PORT: port, LOG_LEVEL: 'error' },
    });
    await until(async () => (await statusOf(`http://127.0.0.1:${port}/ready`)) === 200);
    service.child.kill('SIGTERM');
    expect(await service.ended).toEqual({ code: 0, signal: null });
    const rows = await withClient(own.ownerUrl, (client) => client.query('select from tenants'));
    expect([rows.rowCount, service.output()]).toEqual([0, '']);
    await own.drop();
  }, 60_000);

  test('judges an upgrade', async () => {
    const env = { APP_ENV: 'production', DATABASE_URL: database.ownerUrl };
    const verdict = crossdock(installed, ['doctor', '--upgrade'], env);
    expect([await verdict.ended, verdict.output()]).toEqual([
      { code: 0, signal: null },
      expect.stringMatching(/^rolling:\nEvery migration is applied\./),
    ]);
  });

  test('has one command, which lists the programs', async () => {
    const unknown = crossdock(installed, ['help'], {});
    expect(await unknown.ended).toEqual({ code: 2, signal: null });
    expect(unknown.output()).toMatch(/^Commands:\n {2}serve +\S.*\n {2}worker +\S/m);
    // Each program of the release has a line that says what it does.
    const listed = [...unknown.output().matchAll(/^ {2}([a-z-]+) +(\S.+)$/gm)].map(([, name]) => name);
    const commands = readdirSync(join(installed, 'dist', 'src', 'commands')).filter((name) =>
      name.endsWith('.js'),
    );
    const programs = [
      ...commands.map((name) => name.replace(/\.js$/, '')),
      'print-bridge',
      'serve',
      'worker',
    ];
    expect(listed.toSorted()).toEqual(programs.toSorted());
    expect(unknown.output()).not.toContain('undefined');
  });

  test('does not suggest the embedded server, which it does not have', async () => {
    const serve = crossdock(installed, ['serve'], { APP_ENV: 'production' });
    expect(await serve.ended).toEqual({ code: 1, signal: null });
    expect(serve.output()).toMatch(/^DATABASE_URL is required in production$/m);
    expect(serve.output()).not.toContain('EMBEDDED_POSTGRES');
  });

  test('migrates, creates a tenant and serves in production with secrets in files', async () => {
    const secrets = await makeSecrets(database);
    const start = (args: string[], env: Record<string, string>) => crossdock(installed, args, env);
    await expectToServe(start, database, secrets.folder);
    await secrets.drop();
  }, 60_000);
});

test('the chunks that a program loads are found at once, also beside a long encoded text', async () => {
  const root = await makeFolder();
  const files = {
    'src/main.js': `import "../chunks/a-ABCDEFG1.js";\nconst encoded = "${'A'.repeat(60_000)}";`,
    'chunks/a-ABCDEFG1.js': 'await import("./b.c-ABCDEFG2.js");',
    'chunks/b.c-ABCDEFG2.js': '',
    'chunks/other-ABCDEFG3.js': 'import "./a-ABCDEFG1.js";',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, 'dist', path)), { recursive: true });
    writeFileSync(join(root, 'dist', path), text);
  }
  const before = process.cpuUsage();
  const found = bundleFilesOf(root, ['src/main.ts']);
  const { user } = process.cpuUsage(before);
  expect(found).toEqual(
    ['src/main', 'chunks/a-ABCDEFG1', 'chunks/b.c-ABCDEFG2'].flatMap((path) => [
      `dist/${path}.js`,
      `dist/${path}.js.map`,
    ]),
  );
  expect(user / 1000).toBeLessThan(1_000);
});

/** Writes a folder with these files at these times. */
async function folderOf(files: string[], time: number): Promise<string> {
  const folder = await makeFolder();
  for (const path of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `contents of ${path}`);
    chmodSync(join(folder, path), path.startsWith('bin/') ? 0o755 - (time % 2) * 0o22 : 0o644);
    utimesSync(join(folder, path), time, time);
  }
  return folder;
}

describe('archives', () => {
  const LONG = `node_modules/${'a'.repeat(90)}/${'b'.repeat(90)}.js`;
  const FILES = ['bin/crossdock', 'app.js', LONG];

  test('have the same bytes whatever the order, times and permissions of the files', async () => {
    const folders = [await folderOf(FILES, 1_000_000), await folderOf([...FILES].reverse(), 2_000_001)];
    const written = folders.map(async (folder) => {
      const path = join(await makeFolder(), 'out.tar.gz');
      await writeTarball(path, [{ folder, at: 'crossdock' }], REVISION);
      return readFileSync(path);
    });
    const [first, second] = await Promise.all(written);
    expect(first?.equals(second ?? Buffer.alloc(0))).toBe(true);
    const tar = gunzipSync(first ?? Buffer.alloc(0)).toString('latin1');
    // The format stores a long path in two parts.
    for (const path of FILES) expect(tar).toContain(path.split('/').at(-1));
    for (const path of FILES) expect(tar).toContain(`contents of ${path}`);
  });

  test('of the image have layers by rate of change, an account without rights, and no shell', async () => {
    const layout = join(await makeFolder(), 'image');
    const base = await folderOf(['usr/bin/node'], 1);
    const application = await folderOf(
      [...FILES, 'node_modules/bcrypt/prebuilds/linux-x64/bcrypt.glibc.node'].concat(
        ['linux-x64/bcrypt.musl.node', 'darwin-x64/bcrypt.node'].map(
          (it) => `node_modules/bcrypt/prebuilds/${it}`,
        ),
      ),
      1,
    );
    await writeImage({ base, application, layout, revision: REVISION });
    const blob = (digest: string) => readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
    const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
    const manifest = JSON.parse(blob(index.manifests[0].digest).toString());
    const { config } = JSON.parse(blob(manifest.config.digest).toString());
    expect(config).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['/usr/bin/node', '/app/bin/crossdock'],
      Healthcheck: { Test: ['CMD', '/usr/bin/node', '/app/bin/crossdock', 'health'] },
      Labels: { 'org.opencontainers.image.revision': 'c0ffee', 'org.opencontainers.image.version': '1.2.3' },
    });
    const layers = manifest.layers.map(({ digest }: { digest: string }) =>
      gunzipSync(blob(digest)).toString('latin1'),
    );
    expect(layers).toHaveLength(3);
    expect(layers[0]).toContain('usr/bin/node');
    expect(layers[1]).toContain('bcrypt.glibc.node');
    expect(layers[1]).not.toMatch(
      matching(/bcrypt\.musl|darwin/, 'bcrypt.musl.node', 'darwin-x64/bcrypt.node'),
    );
    expect(layers[2]).toContain('app/app.js');
    expect(layers[2]).not.toContain('node_modules');
  });
});

describe('SECRETS_DIR', () => {
  const NAMES = {
    TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
    LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
  };

  async function folderWith(files: Record<string, string>): Promise<string> {
    const folder = await makeFolder();
    for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), value);
    return folder;
  }

  test('provides secrets, without the final line break, and nothing else', async () => {
    const SECRETS_DIR = await folderWith({ ...NAMES, LOOKUP_KEY: `${NAMES.LOOKUP_KEY}\n`, PORT: '1' });
    const config = developmentConfig({ SECRETS_DIR });
    expect(config.secrets.lookupKey.toString('hex')).toBe(NAMES.LOOKUP_KEY);
    expect(config.tokens.keys).toEqual([{ id: 'k1', secret: 'test-key-0123456789'.repeat(3) }]);
    expect(config.port).toBe(3000);
    const owner = 'postgres://owner@127.0.0.1/crossdock';
    expect(
      readOwnerUrl({
        APP_ENV: 'staging',
        SECRETS_DIR: await folderWith({ DATABASE_OWNER_URL: `${owner}\n` }),
      }),
    ).toBe(owner);
  });

  test('is refused if it does not exist, if a secret cannot be read, and if a secret is set twice', async () => {
    expect(() => developmentConfig({ SECRETS_DIR: '/nowhere' })).toThrow(
      'SECRETS_DIR names a folder that does not exist',
    );
    const SECRETS_DIR = await folderWith(NAMES);
    expect(() => developmentConfig({ SECRETS_DIR, ...NAMES })).toThrow(
      'TOKEN_KEYS is set and is also a file in SECRETS_DIR; remove one of them',
    );
    mkdirSync(join(SECRETS_DIR, 'DATABASE_URL'));
    expect(() => developmentConfig({ SECRETS_DIR })).toThrow(
      /^DATABASE_URL cannot be read from SECRETS_DIR: EISDIR/,
    );
    expect(() => readOwnerUrl({ APP_ENV: 'staging', SECRETS_DIR })).toThrow(/^DATABASE_URL cannot be read/);
  });
});
