// Adds an operation to the contract, with a handler, rows in the tables of the tests, and a test file:
// npm run new:operation -- <operationId> --path <Name.php> --module <folder> --permission <permission> [--method post]
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { contractEntry, handlerFile, testFile } from './new-operation/templates.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const USAGE =
  'Usage: npm run new:operation -- <operationId> --path <Name.php> --module <folder> --permission <permission> [--method get|post]';

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}

function readArguments() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      path: { type: 'string' },
      module: { type: 'string' },
      permission: { type: 'string' },
      method: { type: 'string', default: 'get' },
    },
  });
  const [id] = positionals;
  const { path, module, permission, method } = values;
  if (!id || !path || !module || !permission) throw new Error(USAGE);
  const name = id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const operation = { id, path, module, permission, method, name };
  const problem = problemOf(operation);
  if (problem) throw new Error(`${problem}\n${USAGE}`);
  return operation;
}

function problemOf({ id, path, module, permission, method, name }) {
  if (!/^[a-z][a-zA-Z0-9]+$/.test(id)) return `${id} is not a camelCase operationId.`;
  if (!/^[A-Z][A-Za-z0-9]*\.php$/.test(path)) return `${path} is not a path like PackageCounts.php.`;
  if (!/^[a-z][a-z-]*$/.test(module)) return `${module} is not a folder name like packages.`;
  if (!['get', 'post'].includes(method)) return `${method} is not get or post.`;
  if (!read('src/platform/access/permissions.ts').includes(`'${permission}':`))
    return `${permission} is not in src/platform/access/permissions.ts.`;
  if (new RegExp(`operationId: ${id}$`, 'm').test(read('generated/openapi.yaml')))
    return `${id} exists already.`;
  if (read('openapi/openapi.yaml').includes(`/api/${path}:`))
    return `The path ${path} exists already. Add the method to it by hand.`;
  const folder = folderOf({ module, name });
  return existsSync(join(root, folder)) ? `${folder} exists already.` : undefined;
}

/** Returns the folder of the handler: that of a new module, or a new sub-folder of an existing module. */
function folderOf({ module, name }) {
  const folder = `src/modules/${module}`;
  return existsSync(join(root, folder)) ? `${folder}/${name}` : folder;
}

function addOperation(operation) {
  const { id, path, module, name } = operation;
  const contract = `openapi/paths/${module}/${name}.yaml`;
  const folder = folderOf(operation);
  const handler = `${folder}/handlers.ts`;
  const test = `test/modules/${module}/${name}.test.ts`;
  create(contract, contractEntry(operation));
  create(handler, handlerFile(operation, '../'.repeat(folder.split('/').length)));
  create(test, testFile(operation));
  insert(
    'openapi/openapi.yaml',
    /^paths:\n/m,
    `  /api/${path}:\n    $ref: ./paths/${module}/${name}.yaml#/operation\n`,
  );
  insert(
    'src/handlers.ts',
    /^import .*\n/m,
    `import { ${id}Handlers } from './${handler.slice(4, -3)}.js';\n`,
  );
  insert('src/handlers.ts', /^ {2}return \{\n/m, `    ...${id}Handlers(),\n`);
  insert('test/security/authorization/matrix.ts', /^export const MATRIX = \{\n.*\n/m, matrixRow(operation));
  insert(
    'test/security/authorization/calls.ts',
    /^export const CALLS.*\{\n/m,
    `  ${id}: () => (${callOf(operation)}),\n`,
  );
  const bound = operation.method === 'post' ? 'application/json: record' : 'query: read';
  insert('openapi/bounds.yaml', /^operations:\n/m, `  ${id}: { ${bound} }\n`);
  execFileSync(process.execPath, [join(root, 'scripts/generate.mjs')], { stdio: 'inherit' });
  process.stdout.write(nextSteps({ ...operation, contract, handler, test }));
}

/** Returns the row with the statuses for managers, warehouse staff and couriers, according to the permission. */
function matrixRow({ id, permission }) {
  const roles = rolesOf(permission);
  const cells = ['manager', 'warehouse', 'courier'].map((role) => (roles.includes(role) ? "'200'" : "'403'"));
  return `  ${id}: {\n    '${id}': [${cells.join(', ')}],\n  },\n`;
}

function rolesOf(permission) {
  const source = read('src/platform/access/permissions.ts');
  const group = new RegExp(`'${permission}': (\\w+)`).exec(source)?.[1] ?? '';
  const roles = new RegExp(`const ${group}: .* = \\[(.*)\\]`).exec(source)?.[1] ?? '';
  const nested = [...roles.matchAll(/\.\.\.(\w+)/g)].map(
    ([, name]) => new RegExp(`const ${name}: .* = \\[(.*)\\]`).exec(source)?.[1],
  );
  return [roles, ...nested].join();
}

const callOf = ({ method }) => (method === 'get' ? '{}' : '{ body: {} }');

function read(path) {
  return readFileSync(join(root, path), 'utf8');
}

function create(path, text) {
  if (existsSync(join(root, path))) throw new Error(`${path} exists already.`);
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function insert(path, after, text) {
  const before = read(path);
  const found = after.exec(before);
  if (!found) throw new Error(`${path} has no line where the operation could be inserted.`);
  const end = found.index + found[0].length;
  writeFileSync(join(root, path), before.slice(0, end) + text + before.slice(end));
}

const nextSteps = ({ id, method, contract, handler, test }) => `
${id} works, and returns nothing yet. Next:
1. ${contract}: describe the operation and its data; the texts in <angle brackets> fail the lint.
   List the failure codes of its own under x-errors. Then: npm run generate
2. ${handler}: read or write through ctx (CONTRIBUTING.md, "Add an endpoint").
3. ${test}: prove what it returns, and to whom.
   npm test -- ${test}
   npm test -- test/security/isolation.test.ts test/contract -t ${id}
${method === 'post' ? '4. WRITES in test/security/bad-input.test.ts: the body, the table and the row that it writes.\n' : ''}`;

try {
  addOperation(readArguments());
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
