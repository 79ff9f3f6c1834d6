import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { build as buildIn } from '../../scripts/build.mjs';
import { inputsHash } from '../../scripts/generated-inputs.mjs';
import { projectRoot } from '../../src/config/project-root.js';
import { until } from '../support/service/processes.js';

// A small project with the scripts of this one: the entry points print a value that another module exports.
const FILES = {
  'package.json': '{"type":"module"}',
  'package-lock.json': '{}',
  'tsconfig.json': '{"compilerOptions":{"target":"ES2023"}}',
  'src/value.ts': 'export const value: string = "first";\n',
  'src/main.ts': 'import { value } from "./value.js";\nprocess.stdout.write(value);\n',
  'src/child.ts': 'import { value } from "./value.js";\nprocess.stdout.write(`child ${value}`);\n',
  'src/worker.ts': 'import { value } from "./value.js";\nprocess.stdout.write(`worker ${value}`);\n',
  'fixtures/clone.ts': 'import { value } from "../src/value.js";\nprocess.stdout.write(`clone ${value}`);\n',
  'src/commands/doctor.ts': 'export {};\n',
  'src/commands/health.ts': 'export {};\n',
  'src/commands/migrate.ts': 'export {};\n',
  'src/commands/outbound.ts': 'export {};\n',
  'print-bridge/print-bridge.ts': 'export {};\n',
  'src/commands/restore-report.ts': 'export {};\n',
  'src/commands/rehash.ts': 'export {};\n',
  'src/commands/remove-published.ts': 'export {};\n',
  'src/commands/reset-admin.ts': 'export {};\n',
  'src/commands/rewrap.ts': 'export {};\n',
  'src/commands/take-over.ts': 'export {};\n',
  'src/commands/anonymise.ts': 'export {};\n',
  'scripts/develop/demo-load.ts': 'export {};\n',
  'src/commands/tenant-create.ts': 'export {};\n',
  'src/commands/tenant-move.ts': 'export {};\n',
  'scripts/contract/generate.ts': 'export {};\n',
  'tools/table.ts': 'export const rows = 1;\n',
  'generated/table.ts': 'export const table = 1;\n',
  'openapi/openapi.yaml': 'openapi: 3.1.0\n',
  'docs/site/pages/index.md': '# Start\n',
  'prisma/schema.prisma': 'model A { id Int @id }\n',
};

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'crossdock-build-'));
  cpSync(join(projectRoot, 'scripts'), join(copy, 'scripts'), {
    recursive: true,
    // The TypeScript programs import sources that the copy does not have.
    filter: (path) => !path.endsWith('.ts'),
  });
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
  for (const [path, text] of Object.entries(FILES)) write(path, text);
});

afterAll(() => rmSync(copy, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(copy, path)), { recursive: true });
  writeFileSync(join(copy, path), text);
}

const read = (path: string) => readFileSync(join(copy, path), 'utf8');

function runNode(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

const build = (): boolean => buildIn(copy);

const main = () => runNode('dist/src/main.js');

describe('the build', () => {
  // Each test starts with a current build.
  beforeEach(() => {
    for (const [path, text] of Object.entries(FILES)) if (read(path) !== text) write(path, text);
    build();
  });

  test('is skipped if nothing changed, and writes nothing then', () => {
    const stamp = () => [statSync(join(copy, 'dist')).mtimeMs, statSync(join(copy, 'dist/.built')).mtimeMs];
    const before = stamp();
    expect(build()).toBe(false);
    expect(stamp()).toEqual(before);
    expect(main()).toBe('first');
    expect(runNode('dist/src/worker.js')).toBe('worker first');
  });

  test('is skipped if only the times of files changed, as in a checkout or a copy', () => {
    for (const path of ['src/value.ts', 'package-lock.json', 'dist/src/value.js'])
      utimesSync(join(copy, path), 1, 1);
    expect(build()).toBe(false);
  });

  test.each(['package.json', 'package-lock.json', 'tsconfig.json', 'src/worker.ts', 'generated/table.ts'])(
    'is not skipped if %s changed',
    (path) => {
      write(path, `${read(path)}\n`);
      expect(build()).toBe(true);
      expect(build()).toBe(false);
    },
  );

  test('contains a changed, an added and a renamed source, and nothing of a removed one', () => {
    write('src/value.ts', 'export { next as value } from "./next.js";\n');
    write('src/next.ts', 'export const next = "second";\n');
    expect(build()).toBe(true);
    expect(main()).toBe('second');
    expect(existsSync(join(copy, 'dist/src/next.js'))).toBe(true);

    renameSync(join(copy, 'src/next.ts'), join(copy, 'src/later.ts'));
    write('src/value.ts', 'export { next as value } from "./later.js";\n');
    expect(build()).toBe(true);
    expect(main()).toBe('second');
    expect(readdirSync(join(copy, 'dist/src')).filter((name) => name.startsWith('next'))).toEqual([]);

    rmSync(join(copy, 'src/later.ts'));
    write('src/value.ts', FILES['src/value.ts']);
    build();
    expect(readdirSync(join(copy, 'dist/src')).filter((name) => name.startsWith('later'))).toEqual([]);
  });

  test('is not skipped with another version of Node', () => {
    write('dist/.built', read('dist/.built').replace(`"node":"${process.version}"`, '"node":"v1.0.0"'));
    expect(build()).toBe(true);
  });

  test('starts again after a build by an earlier version of the project, whose record is different', () => {
    write('dist/.built', JSON.stringify({ node: process.version, files: {} }));
    expect(build()).toBe(true);
    expect(build()).toBe(false);
  });

  test('repairs outputs that are truncated, missing, or of another program', () => {
    write('dist/src/value.js', '');
    expect(build()).toBe(true);
    expect(read('dist/src/value.js')).toContain('first');
    rmSync(join(copy, 'dist/src/main.js'));
    expect(build()).toBe(true);
    write('dist/src/stray.js', 'export {};\n');
    expect(build()).toBe(true);
    expect(existsSync(join(copy, 'dist/src/stray.js'))).toBe(false);
    expect(main()).toBe('first');
  });

  test('repairs what a killed build left behind, even if the sources are as before it', async () => {
    write('src/value.ts', 'export const value = "killed";\n');
    const program = `import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const rename = fs.renameSync;
      fs.renameSync = (from, to) => {
        rename(from, to);
        // A part of the outputs is new now.
        if (to.endsWith('value.js')) process.kill(process.pid, 'SIGKILL');
      };
      syncBuiltinESMExports();
      (await import('./scripts/build.mjs')).build(process.cwd());`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: copy,
      stdio: 'ignore',
    });
    expect((await once(child, 'exit'))[1]).toBe('SIGKILL');
    expect(read('dist/src/value.js')).toContain('killed');
    write('src/value.ts', FILES['src/value.ts']);
    expect(build()).toBe(true);
    expect(read('dist/src/value.js')).toContain('first');
    expect(main()).toBe('first');
  });

  test('fails with the place of a syntax error, and leaves the previous build as it was', () => {
    write('src/value.ts', 'export const value = ;\n');
    expect(() => build()).toThrow(/src\/value\.ts:1/);
    expect(main()).toBe('first');
  });

  test('never shows a half-written file to a process that starts meanwhile', async () => {
    const contents = ['a', 'b'].map((letter) => `export const value = "${letter.repeat(1_000_000)}";\n`);
    write('src/value.ts', contents[0] ?? '');
    build();
    write('src/value.ts', contents[1] ?? '');
    const program = `(await import('./scripts/build.mjs')).build(process.cwd());`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { cwd: copy });
    const seen = new Set<number>();
    await until(async () => {
      seen.add(read('dist/src/value.js').length);
      return child.exitCode !== null;
    });
    expect(child.exitCode).toBe(0);
    expect(seen.size).toBe(1);
    expect(read('dist/src/value.js')).toContain('bbb');
  });
});

test.each([
  'openapi/openapi.yaml',
  'docs/site/pages/index.md',
  'prisma/schema.prisma',
  'scripts/generate.mjs',
  'scripts/contract/generate.ts',
])('the hash that generated/ records depends on %s', (path) => {
  const hash = () => inputsHash(copy);
  const before = hash();
  expect(hash()).toBe(before);
  const text = read(path);
  write(path, `${text}\n`);
  expect(hash()).not.toBe(before);
  write(path, text);
  expect(hash()).toBe(before);
});
