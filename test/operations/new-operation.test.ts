import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { projectRoot } from '../../src/config/project-root.js';

const COPIED = [
  'CHANGELOG.md',
  'docs/site',
  'generated',
  'openapi',
  'package.json',
  'prisma',
  'prisma.config.ts',
  'redocly.yaml',
  'scripts',
  'src',
  'test/modules',
  'test/security/authorization',
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

/** Returns the lines of a file that contain one of the texts, in their order. */
const linesWith = (path: string, ...texts: string[]) =>
  read(path)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => texts.some((text) => line.includes(text)));

const EXAMPLE = ['--module', 'packages', '--path', 'PackageCounts.php', '--permission', 'package:receive'];
const STOCK = [
  '--module',
  'warehouses',
  '--path',
  '/api/Warehouse/PackagesByWarehouse',
  '--permission',
  'warehouse:view',
];

/** The bundle is JSON without a type of its own. */
type Bundle = {
  paths: Record<string, { get?: { operationId: string; tags: string[]; responses: object } }>;
};

describe('npm run new:operation', () => {
  test('adds an operation to the contract with the failures that every operation of its kind has', () => {
    expect(newOperation('countPackages', ...EXAMPLE)).toMatchObject({ code: 0 });
    const bundle = JSON.parse(read('generated/openapi.json')) as Bundle;
    const operation = bundle.paths['/api/PackageCounts.php']?.get;
    expect(operation?.operationId).toBe('countPackages');
    expect(operation?.tags).toEqual(['Packages']);
    expect(Object.keys(operation?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '400', '401', '403', '405', '429', '500', '503']),
    );
    expect(read('src/handlers.ts')).toContain('...countPackagesHandlers(),');
    expect(read('src/modules/packages/count-packages/handlers.ts')).toContain(
      "from '../../../../generated/handlers.js'",
    );
    expect(read('test/modules/packages/count-packages.test.ts')).toContain('countPackages().ok()');
  }, 60_000);

  test("accepts a path in a folder, and adds to the module's only file of the contract and beside its only test", () => {
    expect(newOperation('listPackagesByWarehouse', ...STOCK)).toMatchObject({ code: 0 });
    const bundle = JSON.parse(read('generated/openapi.json')) as Bundle;
    expect(bundle.paths['/api/Warehouse/PackagesByWarehouse']?.get?.operationId).toBe(
      'listPackagesByWarehouse',
    );
    expect(Object.keys(parse(read('openapi/paths/warehouses.yaml')) as object)).toEqual([
      'manageWarehouses',
      'listPackagesByWarehouse',
    ]);
    expect(readdirSync(join(copy, 'openapi/paths'))).not.toContain('warehouses');
    expect(readdirSync(join(copy, 'test/modules'))).toContain('list-packages-by-warehouse.test.ts');
    expect(readdirSync(join(copy, 'test/modules'))).not.toContain('warehouses');
  }, 60_000);

  test('adds a new module with a tag of its own, at the end of each table', () => {
    const notes = ['--module', 'notes', '--path', 'Notes', '--permission', 'user:manage', '--method', 'post'];
    expect(newOperation('addNote', ...notes)).toMatchObject({ code: 0 });
    expect(read('openapi/openapi.yaml')).toContain('  - name: Notes\n    description: <');
    expect(read('test/security/authorization/matrix.ts')).toContain(
      "  addNote: {\n    'addNote':                           adminsOnly('200'),\n  },\n} satisfies Matrix",
    );
    expect(read('src/handlers.ts')).toContain('    ...addNoteHandlers(),\n  } satisfies Handlers');
  }, 60_000);

  test('inserts beside the other entries of the module', () => {
    const after = (path: string, own: string, ...texts: string[]) => {
      const lines = linesWith(path, own, ...texts);
      return lines[lines.findIndex((line) => line.includes(own)) - 1];
    };
    const stock = 'listPackagesByWarehouse';
    expect(after('openapi/openapi.yaml', '/api/Warehouse/', '/api/')).toBe('/api/ManageWarehouses.php:');
    expect(after('openapi/bounds.yaml', stock, ': {')).toContain('manageWarehouses: {');
    expect(after('src/handlers.ts', `...${stock}`, '...')).toBe('...warehouseHandlers(),');
    expect(after('src/handlers.ts', `./modules/warehouses/list`, 'import')).toContain('warehouseHandlers');
    expect(after('test/security/authorization/matrix.ts', `${stock}: {`, ': {')).toBe('manageWarehouses: {');
    expect(after('test/security/authorization/calls.ts', `${stock}: (`, ' a warehouse')).toContain(
      "'delete a warehouse'",
    );
  });

  test('tests the operation with each layer of isolation alone, and what it counts', () => {
    const stock = read('test/modules/list-packages-by-warehouse.test.ts');
    expect(stock).toContain("from '../support/fixture/with-service.js'");
    for (const part of ['applicationFilters: false', 'rowSecurity: false', 'counts nothing of it'])
      expect(stock).toContain(part);
    expect(read('test/modules/packages/count-packages.test.ts')).toContain(
      "refused(403, 'permission_denied')",
    );
  });

  test('gives the body of a POST a name, which code generators need', () => {
    expect(parse(read('openapi/paths/notes.yaml'))).toMatchObject({
      addNote: {
        post: {
          requestBody: { content: { 'application/json': { schema: { $ref: '#/AddNoteInput' } } } },
        },
      },
      AddNoteInput: { type: 'object' },
    });
  });

  test('derives the statuses of each role from the permission', () => {
    // Couriers do not receive packages.
    expect(read('test/security/authorization/matrix.ts')).toMatch(
      /'countPackages': +\['200', +'200', +'403'\],/,
    );
    expect(read('test/security/authorization/calls.ts')).toContain('countPackages: () => ({}),');
  });

  test.each([
    ['an operation that exists', ['countPackages', ...EXAMPLE], 'countPackages exists already.'],
    ['a path that exists', ['getSums', ...EXAMPLE], 'The path /api/PackageCounts.php exists already.'],
    [
      'an unknown permission',
      ['getSums', '--module', 'packages', '--path', 'Sums.php', '--permission', 'package:sum'],
      'package:sum is not in src/platform/access/permissions.ts.',
    ],
    [
      'a name without a verb',
      ['packageSums', '--module', 'packages', '--path', 'Sums.php', '--permission', 'package:view'],
      'packageSums does not begin with a verb, as listPackages does.',
    ],
    ...['package-sums.php', 'Sums.html', 'Package//Sums', 'Sums/{id}', 'Sums.php/Today'].map(
      (path): [string, string[], string] => [
        `the path ${path}`,
        ['getSums', '--module', 'packages', '--path', path, '--permission', 'package:view'],
        `/api/${path} is not a path like /api/PackageCounts.php`,
      ],
    ),
    ['missing arguments', ['getSums'], 'Usage: npm run new:operation'],
  ])('rejects %s and changes nothing', (_what, args, message) => {
    const before = read('openapi/openapi.yaml');
    const { code, output } = newOperation(...args);
    expect({ code, isExplained: output.includes(message) }).toEqual({ code: 1, isExplained: true });
    expect(read('openapi/openapi.yaml')).toBe(before);
  });
});
