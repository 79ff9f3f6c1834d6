import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { projectRoot } from '../../src/config/project-root.js';

const COPIED = [
  ...['CHANGELOG.md', 'docs/site', 'generated', 'openapi', 'package.json', 'prisma', 'prisma.config.ts'],
  ...['scripts', 'src', 'test/security/authorization'],
  ...readdirSync(join(projectRoot, 'sdk'), { withFileTypes: true }).map((entry) =>
    entry.isDirectory() ? `sdk/${entry.name}/README.md` : `sdk/${entry.name}`,
  ),
];

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'crossdock-new-operation-'));
  for (const name of COPIED) cpSync(join(projectRoot, name), join(copy, name), { recursive: true });
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
});

afterAll(() => {
  rmSync(copy, { recursive: true });
});

function newOperation(...args: string[]) {
  const run = spawnSync(process.execPath, ['scripts/develop/new-operation.mjs', ...args], {
    cwd: copy,
    encoding: 'utf8',
  });
  return { code: run.status, output: run.stdout + run.stderr };
}

const read = (path: string) => readFileSync(join(copy, path), 'utf8');

const EXAMPLE = ['--module', 'packages', '--path', 'PackageCounts.php', '--permission', 'package:receive'];

describe('npm run new:operation', () => {
  test('adds an operation to the contract with the failures that every operation of its kind has', () => {
    expect(newOperation('countPackages', ...EXAMPLE)).toMatchObject({ code: 0 });
    // The bundle is JSON without a type of its own.
    const bundle = JSON.parse(read('generated/openapi.json')) as {
      paths: Record<string, { get?: { operationId: string; responses: object } }>;
    };
    const operation = bundle.paths['/api/PackageCounts.php']?.get;
    expect(operation?.operationId).toBe('countPackages');
    expect(Object.keys(operation?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '400', '401', '403', '405', '429', '500', '503']),
    );
    expect(read('src/handlers.ts')).toContain('...countPackagesHandlers(),');
    expect(read('src/modules/packages/count-packages/handlers.ts')).toContain(
      "from '../../../../generated/handlers.js'",
    );
  }, 60_000);

  test('gives the body of a POST a name, which code generators need', () => {
    const operation = JSON.stringify({ id: 'addPackages', method: 'post', permission: 'package:edit' });
    const print = `const { contractEntry } = await import('./scripts/develop/new-operation/templates.mjs');
      process.stdout.write(contractEntry(${operation}));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', print], {
      cwd: copy,
      encoding: 'utf8',
    });
    expect(parse(stdout)).toMatchObject({
      operation: {
        post: {
          requestBody: { content: { 'application/json': { schema: { $ref: '#/AddPackagesInput' } } } },
        },
      },
      AddPackagesInput: { type: 'object' },
    });
  });

  test('derives the statuses of each role from the permission', () => {
    // Couriers do not receive packages.
    expect(read('test/security/authorization/matrix.ts')).toContain(
      "'countPackages': ['200', '200', '403'],",
    );
    expect(read('test/security/authorization/calls.ts')).toContain('countPackages: () => ({}),');
  });

  test.each([
    ['an operation that exists', ['countPackages', ...EXAMPLE], 'countPackages exists already.'],
    ['a path that exists', ['sumPackages', ...EXAMPLE], 'The path PackageCounts.php exists already.'],
    [
      'an unknown permission',
      ['sumPackages', '--module', 'packages', '--path', 'Sums.php', '--permission', 'package:sum'],
      'package:sum is not in src/platform/access/permissions.ts.',
    ],
    ['missing arguments', ['sumPackages'], 'Usage: npm run new:operation'],
  ])('rejects %s and changes nothing', (_what, args, message) => {
    const before = read('openapi/openapi.yaml');
    const { code, output } = newOperation(...args);
    expect({ code, isExplained: output.includes(message) }).toEqual({ code: 1, isExplained: true });
    expect(read('openapi/openapi.yaml')).toBe(before);
  });
});
