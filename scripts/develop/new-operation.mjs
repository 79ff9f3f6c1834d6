// Adds an operation to the contract, with a handler, rows in the tables of the tests, and a test file:
// npm run new:operation -- <operationId> --path <Name.php> --module <folder> --permission <permission> [--method post]
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { assertNew, readArguments, USAGE } from './new-operation/arguments.mjs';
import { insertBesideNeighbours } from './new-operation/entries.mjs';
import {
  contractFileOf,
  handlerFolderOf,
  operationIdsOf,
  read,
  root,
  tagOf,
  testFileOf,
  write,
} from './new-operation/project.mjs';
import { contractEntry, handlerFile, testFile } from './new-operation/templates.mjs';

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}

function addOperation(named) {
  const { id, module } = named;
  const roles = rolesOf(named.permission);
  const operation = { ...named, roles };
  const contract = contractFileOf(operation);
  const handler = `${handlerFolderOf(operation)}/handlers.ts`;
  const test = testFileOf(operation);
  assertNew([handler, test, ...(contract.endsWith(`/${module}.yaml`) ? [] : [contract])]);
  // Before the new operation is one of them.
  const neighbours = operationIdsOf(module);
  const key = addToContract(operation, contract);
  write(handler, handlerFile(operation, '../'.repeat(handler.split('/').length - 1)));
  write(test, testFile(operation, '../'.repeat(test.split('/').length - 1)));
  addPath(operation, `${contract.replace('openapi/', './')}#/${key}`);
  addHandler(operation, handler);
  addBound(operation, neighbours);
  addCases(operation, neighbours);
  execFileSync(process.execPath, [join(root, 'scripts/generate.mjs')], { stdio: 'inherit' });
  process.stdout.write(nextSteps({ id, ...operation, contract, handler, test }));
}

/** Writes the operation, and returns its key in the file. */
function addToContract(operation, path) {
  const key = path.endsWith(`/${operation.module}.yaml`) ? operation.id : 'operation';
  const tag = tagOf(operation.module) ?? addTag(operation.module);
  const entry = contractEntry(operation, { key, up: '../'.repeat(path.split('/').length - 2), tag });
  write(path, existsSync(join(root, path)) ? `${read(path).trimEnd()}\n\n${entry}` : entry);
  return key;
}

/** Adds a tag for the operations of a new module, and returns it. */
function addTag(module) {
  const tag = module.replace(/(?:^|-)([a-z])/g, (_match, letter) => letter.toUpperCase());
  const table = {
    start: /^tags:$/,
    isEntry: (line) => line.startsWith('  - name: '),
    isNeighbour: () => false,
  };
  const entry = `  - name: ${tag}\n    description: <What these operations are about>\n`;
  insertBesideNeighbours('openapi/openapi.yaml', table, entry);
  return tag;
}

function addPath({ url, module }, reference) {
  const table = {
    start: /^paths:$/,
    isEntry: (line) => /^ {2}\/api\//.test(line),
    isNeighbour: (lines) => new RegExp(`\\./paths/${module}[/.]`).test(lines),
  };
  insertBesideNeighbours('openapi/openapi.yaml', table, `  ${url}:\n    $ref: ${reference}\n`);
}

function addHandler({ id, module }, handler) {
  const path = 'src/handlers.ts';
  const isOfModule = (line) => line.includes(`'./modules/${module}/`);
  const names = read(path)
    .split('\n')
    .filter(isOfModule)
    .flatMap((line) => /\{ (\w+) \}/.exec(line)?.[1] ?? []);
  const imports = { isEntry: (line) => line.startsWith('import '), isNeighbour: isOfModule };
  insertBesideNeighbours(path, imports, `import { ${id}Handlers } from './${handler.slice(4, -3)}.js';\n`);
  const entries = {
    start: /^ {2}return \{$/,
    isEntry: (line) => /^ {4}\.\.\.\w+\(/.test(line),
    isNeighbour: (line) => names.some((name) => line.includes(`...${name}(`)),
  };
  insertBesideNeighbours(path, entries, `    ...${id}Handlers(),\n`);
}

function addBound({ id, method }, neighbours) {
  const bound = method === 'post' ? 'application/json: record' : 'query: read';
  const table = {
    start: /^operations:$/,
    isEntry: isKey,
    isNeighbour: (line) => neighbours.includes(keyOf(line)),
  };
  insertBesideNeighbours('openapi/bounds.yaml', table, `  ${id}: { ${bound} }\n`);
}

const KEY = /^ {2}(?:(\w+)|'([^']+)')(?=[:(])/;
const isKey = (line) => KEY.test(line);
const keyOf = (line) => KEY.exec(line)?.slice(1).find(Boolean);

/** Adds the statuses of each role, and the request. */
function addCases({ id, method, roles }, neighbours) {
  const matrix = 'test/security/authorization/matrix.ts';
  const rows = read(matrix)
    .split(/^ {2}(?=\w+: \{)/m)
    .filter((row) => neighbours.includes(/^\w+/.exec(row)[0]));
  const titles = rows.flatMap((row) => [...row.matchAll(/^ {4}'([^']+)':/gm)].map(([, title]) => title));
  const table = (start, names) => ({
    start,
    isEntry: isKey,
    isNeighbour: (line) => names.includes(keyOf(line)),
  });
  const row = `    ${`'${id}':`.padEnd(37)}${statusesOf(roles)},`;
  insertBesideNeighbours(
    matrix,
    table(/^export const MATRIX = \{$/, neighbours),
    `  ${id}: {\n${row}\n  },\n`,
  );
  const call = method === 'get' ? '{}' : '{ body: {} }';
  const calls = 'test/security/authorization/calls.ts';
  insertBesideNeighbours(calls, table(/^export const CALLS.*\{$/, titles), `  ${id}: () => (${call}),\n`);
}

/** Returns the statuses for managers, warehouse staff and couriers, aligned as in the other rows. */
function statusesOf(roles) {
  if (!roles.includes('manager')) return "adminsOnly('200')";
  const [manager, warehouse, courier] = ['manager', 'warehouse', 'courier'].map((role) =>
    roles.includes(role) ? "'200'" : "'403'",
  );
  return `[${`${manager},`.padEnd(23)}${`${warehouse},`.padEnd(23)}${courier}]`;
}

/** Returns the names of the roles that have a permission. */
function rolesOf(permission) {
  const source = read('src/platform/access/permissions.ts');
  const group = new RegExp(`'${permission}': (\\w+)`).exec(source)?.[1] ?? '';
  const roles = new RegExp(`const ${group}: .* = \\[(.*)\\]`).exec(source)?.[1] ?? '';
  const nested = [...roles.matchAll(/\.\.\.(\w+)/g)].map(
    ([, name]) => new RegExp(`const ${name}: .* = \\[(.*)\\]`).exec(source)?.[1],
  );
  return [roles, ...nested].join();
}

const nextSteps = ({ id, method, contract, handler, test }) => `
${id} works, and returns nothing yet. Next:
1. ${contract}: describe the operation and its data; the texts in <angle brackets> fail the lint.
   List the failure codes of its own under x-errors. Then: npm run generate
2. ${handler}: read or write through ctx (CONTRIBUTING.md, "Add an endpoint").
3. ${test}: prove what it returns, and to whom.
   npm test -- ${test}
   npm test -- test/security/isolation.test.ts test/contract -t ${id}
4. ${
  method === 'post'
    ? 'WRITES in test/security/bad-input.test.ts: the body, the table and the row that it writes.'
    : "readAdministration in test/security/isolation.test.ts, if it reads without a courier's id."
}
`;

try {
  addOperation(readArguments(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
