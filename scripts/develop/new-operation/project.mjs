// The files of the project, and where those of a module are.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

export function read(path) {
  return readFileSync(join(root, path), 'utf8');
}

export function write(path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const exists = (path) => existsSync(join(root, path));

/**
 * Returns the file of the contract for a new operation: a new one in the module's folder, or the module's only file, to which it is
 * appended.
 */
export const contractFileOf = ({ module, name }) =>
  exists(`openapi/paths/${module}`) ? `openapi/paths/${module}/${name}.yaml` : `openapi/paths/${module}.yaml`;

/** Returns the folder of the handler: that of a new module, or a new sub-folder of an existing module. */
export const handlerFolderOf = ({ module, name }) =>
  exists(`src/modules/${module}`) ? `src/modules/${module}/${name}` : `src/modules/${module}`;

/** Returns the test file: in the module's folder, or beside the tests of the small modules. */
export const testFileOf = ({ module, name }) =>
  exists(`test/modules/${module}`)
    ? `test/modules/${module}/${name}.test.ts`
    : `test/modules/${name}.test.ts`;

/** Returns the files of a module in the contract; none of a new module. */
function contractFilesOf(module) {
  const folder = `openapi/paths/${module}`;
  if (exists(folder)) return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
  return [`${folder}.yaml`].filter(exists);
}

/** Returns the texts that a pattern captures in the files of a module in the contract. */
const textsOf = (module, pattern) =>
  contractFilesOf(module).flatMap((path) => [...read(path).matchAll(pattern)].map(([, text]) => text));

export const operationIdsOf = (module) => textsOf(module, /^ +operationId: (\w+)$/gm);

/** Returns the tag of the module's operations; undefined for a new module. */
export const tagOf = (module) => textsOf(module, /^ +tags: \[(\w+)\]$/gm)[0];
