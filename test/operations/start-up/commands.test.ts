import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { commandLineIn } from '../../../src/config/commands.js';
import { PROGRAMS } from '../../../scripts/build.mjs';
import { projectRoot } from '../../../src/config/project-root.js';

const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

test('a command is named as a release runs it, and as a clone does', () => {
  expect(commandLineIn('migrate --status', true)).toBe('crossdock migrate --status');
  expect(commandLineIn('migrate --status', false)).toBe('npm run migrate -- --status');
  expect(commandLineIn('tenant-move', false)).toBe('npm run tenant:move');
});

const sources = ['src', 'fixtures', 'tools', 'print-bridge', 'scripts', 'sdk-tools']
  .flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(folder, path),
    ),
  )
  .filter((path) => path.endsWith('.ts'));

test('every command that a message names exists in a clone, with the script that runs it', () => {
  const named = sources.flatMap((path) =>
    [...readFileSync(join(projectRoot, path), 'utf8').matchAll(/commandLine\([`']([a-z-]+)/g)].map(
      ([, name = '']) => name,
    ),
  );
  expect(named.length).toBeGreaterThan(15);
  const run = (name: string) => scripts[commandLineIn(name, false).replace('npm run ', '')] ?? '';
  const isOther = (name: string) => !new RegExp(`^node scripts/run\\.mjs (\\S+/)?${name}$`).test(run(name));
  expect(named.filter((name) => name !== 'worker' && isOther(name))).toEqual([]);
});

/** The programs that only a clone has. */
const OF_A_CLONE =
  /^scripts\/(campaigns|contract|contract-diff|develop|measure|mutants)\/|^sdk-tools\/|^src\/development\//;

test('no message of a program of a release names npm', () => {
  const messages = sources
    .filter((path) => !OF_A_CLONE.test(path))
    .flatMap((path) =>
      readFileSync(join(projectRoot, path), 'utf8')
        .split('\n')
        .filter((line) => /npm (run|start)/.test(line) && !/^\s*(\/\/|\*|\/\*\*)/.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
  // Only a clone has the embedded server, and commands.ts makes the names.
  expect(
    messages.filter(
      (line) => !line.includes('Run npm start once') && !line.startsWith('src/config/commands.ts'),
    ),
  ).toEqual([]);
});

// serve starts child, which is no command.
const programs = PROGRAMS.filter((path) => !/^src\/(main|worker|child)\.ts$/.test(path)).map((path) =>
  basename(path, '.ts'),
);

const run = (...args: string[]) =>
  spawnSync(process.execPath, [...args, '--help'], {
    cwd: projectRoot,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
    timeout: 20_000,
  });

test.each(['serve', 'worker', ...programs])(
  'crossdock %s --help prints the usage and exits with 0, without any setting',
  (name) => {
    const { status, stdout, stderr } = run('bin/crossdock', name);
    expect([name, status, stderr, stdout]).toEqual([name, 0, '', expect.stringMatching(/\S/)]);
  },
);

const call = (...args: string[]) =>
  spawnSync(process.execPath, [join(projectRoot, 'bin', 'crossdock'), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
    timeout: 20_000,
  });

test.each(['serve', 'worker', ...programs])(
  'crossdock %s PORT=1 is refused: a line names the argument without its value, and the usage follows',
  (name) => {
    const { status, stdout, stderr } = call(name, 'PORT=sesame');
    const [line, ...usage] = stderr.split('\n');
    expect([name, stdout, line]).toEqual([name, '', expect.stringMatching(/argument '?PORT\b/)]);
    expect(usage.join('\n')).toMatch(/^(Usage: |Prints the labels)/);
    expect(stderr).not.toContain('sesame');
    expect(status).toBeGreaterThan(0);
  },
);

test('crossdock doctor --jsn is refused with the usage, and Node suggests nothing that no command takes', () => {
  const { status, stderr } = call('doctor', '--jsn');
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^Unknown option '--jsn'\.\nUsage: .*doctor /)]);
});

test('crossdock doctr names the unknown command before the usage, and exits with 2', () => {
  const { status, stdout, stderr } = call('doctr=sesame', 'doctor');
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^doctr is no command of crossdock\.\nUsage: crossdock <command>/);
  expect(stderr).not.toContain('sesame');
});

// They are not run: without the check, a script would do its work.
test('every script of package.json reads its arguments, so that none ignores all of them', () => {
  const paths = Object.values(scripts)
    .map((command) => /^node (?:scripts\/run\.mjs (\S+)|(\S+\.mjs))/.exec(command))
    .flatMap((found) => (found?.[1] ? [`${found[1]}.ts`] : (found?.[2] ?? [])));
  expect(paths.length).toBeGreaterThan(40);
  const readsNone = (path: string) =>
    !/parseArgs|process\.argv|describeArguments/.test(readFileSync(join(projectRoot, path), 'utf8'));
  expect(paths.filter(readsNone)).toEqual([]);
});

test.each(['scripts/measure/bench', 'scripts/mutants/mutants', 'sdk-tools/sdk'])(
  'scripts/run.mjs %s --help prints the usage and exits with 0, without any setting',
  (name) => {
    const { status, stdout, stderr } = run(`dist/${name}.js`);
    expect([status, stderr, stdout]).toEqual([0, '', expect.stringMatching(/^Usage: npm run /)]);
  },
);

test.each(['start', 'release/release', 'develop/new-migration', 'develop/new-operation'])(
  'scripts/%s.mjs --help exits with 0',
  (name) => {
    const { status, stdout } = run(`scripts/${name}.mjs`);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^Usage: npm (start|run)/)]);
  },
);
