import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { makeTestWith } from '../../support/harness/programs.js';

const LIMIT_MS = 60_000;
const COPIED = [
  'package.json',
  'package-lock.json',
  '.oxfmtrc.json',
  '.oxlintrc.json',
  '.oxlintrc.staged.json',
  'scripts/hooks',
  'scripts/prepare.mjs',
  'scripts/build.mjs',
  'scripts/build-console.mjs',
  'scripts/fingerprint.mjs',
  'scripts/generated-inputs.mjs',
];
const testWithGit = makeTestWith(test);

let clone: string;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'crossdock-hooks-'));
  for (const name of COPIED) cpSync(join(projectRoot, name), join(clone, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(clone, 'node_modules'));
  writeFileSync(join(clone, '.gitignore'), 'node_modules\n');
  git('init', '--quiet');
});

afterEach(() => {
  rmSync(clone, { recursive: true });
});

function run(command: string, args: string[], env: Record<string, string> = {}) {
  const { PATH } = process.env;
  // No settings of the account or the machine.
  const isolated = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: clone };
  const author = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.com' };
  const committer = { GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' };
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: clone,
    encoding: 'utf8',
    env: { PATH, ...isolated, ...author, ...committer, ...env },
  });
  return { code: status, output: stdout + stderr };
}

const git = (...args: string[]) => run('git', args);

/** The first part of `npm start`, `npm test` and `npm run check`; of other scripts without the option. */
const installMissing = (options = '{ installsHooks: true }', env: Record<string, string> = {}) =>
  run(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { installMissing } = await import('./scripts/prepare.mjs'); installMissing(${options});`,
    ],
    env,
  );

const install = (env: Record<string, string> = {}) => {
  const program = `const { installHooks } = await import('./scripts/hooks/install.mjs');
    console.log(installHooks(process.cwd())?.message ?? '');`;
  return run(process.execPath, ['--input-type=module', '-e', program], env);
};

function commit(path: string, text: string, message = 'A file') {
  writeFileSync(join(clone, path), text);
  git('add', '--all');
  return git('commit', '--quiet', '-m', message);
}

const hooksPath = () => git('config', 'core.hooksPath').output.trim();

test('only npm start, npm test and npm run check install hooks', () => {
  const calls = readdirSync(join(projectRoot, 'scripts'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.mjs'))
    .flatMap((path) =>
      [...readFileSync(join(projectRoot, 'scripts', path), 'utf8').matchAll(/^ *(prepare\(.*\));$/gm)].map(
        ([, call]) => `${path}: ${call}`,
      ),
    );
  expect(calls).toContain('release/release.mjs: prepare()');
  expect(calls.filter((call) => !call.endsWith('prepare()')).sort()).toEqual(
    ['check', 'start', 'test'].map((name) => `${name}.mjs: prepare({ installsHooks: true })`),
  );
});

test('packages are not installed into a folder that node_modules links to: npm ci would empty it', () => {
  const shared = join(clone, 'shared');
  const programs = join(clone, 'programs');
  for (const folder of [join(shared, 'esbuild'), programs]) mkdirSync(folder, { recursive: true });
  rmSync(join(clone, 'node_modules'));
  symlinkSync(shared, join(clone, 'node_modules'));
  writeFileSync(join(programs, 'npm'), '#!/bin/sh\necho npm was called\n', { mode: 0o755 });
  const { code, output } = installMissing('', { PATH: `${programs}:${process.env['PATH']}` });
  expect(code).toBe(1);
  expect(output).toMatch(
    /^The packages must be installed, but node_modules is a symbolic link.+remove the link.+\n$/,
  );
  // Without the link the packages are installed.
  rmSync(join(clone, 'node_modules'));
  expect(installMissing('', { PATH: `${programs}:${process.env['PATH']}` }).output).toContain(
    'npm was called',
  );
});

describe('the hooks of a clone', () => {
  testWithGit(
    ['git'],
    'refuse a staged file without the format, and one that the linter refuses',
    () => {
      expect(install()).toEqual({ code: 0, output: expect.stringContaining('scripts/hooks') });
      expect(hooksPath()).toBe('scripts/hooks');
      expect(commit('a.ts', 'export const one = 1;\n').code).toBe(0);
      const unformatted = commit('b.ts', 'export const two = "2"\n');
      expect(unformatted).toEqual({ code: 1, output: expect.stringContaining('b.ts') });
      const faulty = commit('b.ts', 'export const two: any = 2;\n');
      expect(faulty).toEqual({ code: 1, output: expect.stringContaining('no-explicit-any') });
      expect(commit('b.ts', 'export const two = 2;\n').code).toBe(0);
    },
    LIMIT_MS,
  );

  testWithGit(
    ['git'],
    'are installed by the first command in a clone whose packages are installed already, and hooks of the person stay without a word',
    () => {
      // Installed packages are newer than the lock file. Not the link to those of the project, which npm ci would empty.
      rmSync(join(clone, 'node_modules'));
      mkdirSync(join(clone, 'node_modules', 'esbuild'), { recursive: true });
      writeFileSync(join(clone, 'node_modules', '.package-lock.json'), '{}');
      utimesSync(join(clone, 'package-lock.json'), 1, 1);
      expect(installMissing('')).toEqual({ code: 0, output: '' });
      expect(hooksPath()).toBe('');
      expect(installMissing()).toEqual({ code: 0, output: expect.stringContaining('scripts/hooks') });
      expect(hooksPath()).toBe('scripts/hooks');
      expect(installMissing()).toEqual({ code: 0, output: '' });
      git('config', '--unset', 'core.hooksPath');
      mkdirSync(join(clone, '.git', 'hooks'), { recursive: true });
      writeFileSync(join(clone, '.git', 'hooks', 'pre-push'), '#!/bin/sh\n');
      expect(installMissing()).toEqual({ code: 0, output: '' });
      expect(hooksPath()).toBe('');
    },
    LIMIT_MS,
  );

  testWithGit(
    ['git'],
    'refuse a first line of more than 72 characters, and a second line that is not blank',
    () => {
      install();
      const longest = 'é'.repeat(72);
      expect(commit('a.txt', '1', `${longest}x`)).toEqual({
        code: 1,
        output: expect.stringContaining('has 73 characters'),
      });
      expect(commit('a.txt', '1', 'Title\nbody')).toEqual({
        code: 1,
        output: expect.stringContaining('must be blank'),
      });
      expect(commit('a.txt', '1', `${longest}\n\n${'body '.repeat(40)}`).code).toBe(0);
      expect(commit('a.txt', '2', `fixup! ${longest}`).code).toBe(0);
    },
    LIMIT_MS,
  );

  testWithGit(
    ['git'],
    'are not installed over the hooks of the person, nor in continuous integration, nor without a repository',
    () => {
      expect(install({ CI: 'true' }).output.trim()).toBe('');
      expect(hooksPath()).toBe('');
      const own = join(clone, '.git', 'hooks', 'pre-push');
      mkdirSync(join(clone, '.git', 'hooks'), { recursive: true });
      writeFileSync(own, '#!/bin/sh\n');
      expect(install().output).toContain('stay');
      expect([hooksPath(), existsSync(own)]).toEqual(['', true]);
      rmSync(own);
      git('config', 'core.hooksPath', 'mine');
      expect(install().output.trim()).toBe('');
      expect(hooksPath()).toBe('mine');
      rmSync(join(clone, '.git'), { recursive: true });
      expect(install()).toEqual({ code: 0, output: '\n' });
      expect(existsSync(join(clone, '.git'))).toBe(false);
    },
    LIMIT_MS,
  );
});
