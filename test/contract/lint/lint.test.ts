import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';

// A project with our configuration, in which only planted files are.
let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'crossdock-lint-'));
  for (const file of ['.oxlintrc.json', 'tsconfig.json', 'package.json'])
    await copyFile(join(projectRoot, file), join(copy, file));
  await symlink(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
});

afterAll(() => rm(copy, { recursive: true, force: true }));

/** A violation of each kind of rule: of the language, with types, nearly new in the linter, of a plugin, and our restrictions. */
const PLANTED: [rule: string, folder: string, code: string][] = [
  ['no-empty', 'src/modules', 'export function run(): void {\n  if (Date.now() > 0) {\n  }\n}'],
  ['no-explicit-any', 'src/modules', 'export const value: any = 1;'],
  ['no-non-null-assertion', 'src/modules', 'export const first = (list: string[]): string => list[0]!;'],
  ['no-floating-promises', 'src/modules', 'export function run(): void {\n  Promise.resolve(1);\n}'],
  ['no-misused-promises', 'test', 'export const all = [1].map((n) => n).some(async (n) => n > 1);'],
  ['await-thenable', 'src/modules', 'export const run = async (): Promise<number> => await 1;'],
  [
    'no-unsafe-assignment',
    'src/modules',
    "export const read = (): string => {\n  const text: string = JSON.parse('1');\n  return text;\n};",
  ],
  [
    'no-unnecessary-condition',
    'src/modules',
    'export const run = (text: string): string => text ?? String(1);',
  ],
  [
    'no-useless-assignment',
    'src/modules',
    'export function run(n: number): number {\n  let sum = 1;\n  sum = n;\n  return sum;\n}',
  ],
  ['no-unused-vars', 'test', 'const unused = 1;\nexport const used = 2;'],
  [
    'restrict-template-expressions',
    'src/modules',
    'export const run = (value: object): string => `${value}`;',
  ],
  [
    'no-super-linear-move',
    'src/modules',
    "export const run = (text: string): string => text.replace(/ +$/, '');",
  ],
  [
    'no-super-linear-backtracking',
    'src/platform',
    'export const run = (text: string): boolean => /^(a+)+$/.test(text);',
  ],
  [
    'valid-expect',
    'test',
    "import { expect, test } from '@jest/globals';\ntest('a', () => {\n  expect(1);\n});",
  ],
  [
    'valid-expect-in-promise',
    'test',
    "import { expect, test } from '@jest/globals';\ntest('a', () => {\n  run().then((n) => expect(n).toBe(1));\n});\nconst run = async () => Promise.resolve(1);",
  ],
  [
    'no-restricted-matchers',
    'test',
    "import { expect, test } from '@jest/globals';\ntest('a', () => {\n  expect({ n: Date.now() }).toBeDefined();\n});",
  ],
  [
    'require-to-throw-message',
    'test',
    "import { expect, test } from '@jest/globals';\ntest('a', () => {\n  expect(() => JSON.parse('')).toThrow();\n});",
  ],
  [
    'no-focused-tests',
    'test',
    "import { expect, test } from '@jest/globals';\ntest.only('a', () => {\n  expect(Date.now()).toBe(1);\n});",
  ],
  [
    'no-disabled-tests',
    'test',
    "import { expect, test } from '@jest/globals';\ntest.skip('a', () => {\n  expect(Date.now()).toBe(1);\n});",
  ],
  ['no-restricted-properties', 'src/modules', "export const port = process.env['PORT'];"],
  ['no-restricted-imports', 'src/modules', "import pg from 'pg';\nexport const pool = pg.Pool;"],
];

test('the linter reports a violation of each kind of rule', async () => {
  const reported = await lint(
    PLANTED.map(([, folder, code]) => ({
      folder,
      code,
      extension: folder === 'test' ? 'test.ts' : 'ts',
    })),
  );
  const missed = PLANTED.map(([rule]) => rule).filter((rule, n) => !reported[n]?.includes(rule));
  expect(missed).toEqual([]);
}, 60_000);

test('the linter reports a name that a JavaScript file does not define, and accepts the names of Node', async () => {
  const reported = await lint(
    ['export const a = undefinedName;', 'export const b = new URL(process.cwd());'].map((code) => ({
      folder: 'scripts',
      code,
      extension: 'mjs',
    })),
  );
  expect(reported).toEqual([['no-undef'], []]);
}, 60_000);

type Planted = { folder: string; code: string; extension: string };

/** Returns the rules that each file violates. */
async function lint(files: Planted[]): Promise<string[][]> {
  const paths: string[] = [];
  for (const [n, { folder, code, extension }] of files.entries()) {
    await mkdir(join(copy, folder, `planted-${n}`), { recursive: true });
    paths.push(`${folder}/planted-${n}/planted.${extension}`);
    await writeFile(join(copy, paths[n] ?? ''), `${code}\n`);
  }
  const program = join(projectRoot, 'node_modules', 'oxlint', 'bin', 'oxlint');
  // It exits with 1 if it reports anything.
  const output = await promisify(execFile)(process.execPath, [program, '--format', 'json', ...paths], {
    cwd: copy,
  }).then(
    ({ stdout }) => stdout,
    (error: unknown) => String((error as { stdout?: unknown }).stdout),
  );
  // oxlint documents this format.
  const { diagnostics } = JSON.parse(output) as { diagnostics: { code: string; filename: string }[] };
  return paths.map((path) =>
    diagnostics
      .filter(({ filename }) => filename === path)
      .map(({ code }) => /\(([\w-]+)\)$/.exec(code)?.[1] ?? code),
  );
}
