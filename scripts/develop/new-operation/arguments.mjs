// The arguments of npm run new:operation. The forms of paths and names are those that the lint of the contract enforces.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { read, root } from './project.mjs';

export const USAGE =
  'Usage: npm run new:operation -- <operationId> --path <Name.php> --module <folder> --permission <permission> [--method get|post]';

/** @throws Error that says what is wrong */
export function readArguments(args) {
  const { positionals, values } = parseArgs({
    args,
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
  const operation = { id, url: `/api/${path.replace(/^\/?(api\/)?/, '')}`, module, permission, method, name };
  const problem = problemOf(operation);
  if (problem) throw new Error(`${problem}\n${USAGE}`);
  return operation;
}

function problemOf({ id, url, module, permission, method }) {
  const { rules } = parse(read('redocly.yaml'));
  const isAllowed = (rule, text) => regExpOf(rules[rule].assertions.pattern).test(text);
  if (!/^[a-z][a-zA-Z0-9]+$/.test(id)) return `${id} is not a camelCase operationId.`;
  if (!isAllowed('rule/operation-id-begins-with-verb', id))
    return `${id} does not begin with a verb, as listPackages does. redocly.yaml has the verbs: choose one, or add one there.`;
  if (!isAllowed('rule/path-has-known-form', url))
    return `${url} is not a path like /api/PackageCounts.php, /api/PackageCounts or /api/Package/Counts.`;
  if (!/^[a-z][a-z-]*$/.test(module)) return `${module} is not a folder name like packages.`;
  if (!['get', 'post'].includes(method)) return `${method} is not get or post.`;
  if (!read('src/platform/access/permissions.ts').includes(`'${permission}':`))
    return `${permission} is not in src/platform/access/permissions.ts.`;
  if (new RegExp(`operationId: ${id}$`, 'm').test(read('generated/openapi.yaml')))
    return `${id} exists already.`;
  if (read('openapi/openapi.yaml').includes(`  ${url}:\n`))
    return `The path ${url} exists already. Add the method to it by hand.`;
  return undefined;
}

/** @throws Error if a file of the operation exists already */
export function assertNew(paths) {
  const taken = paths.find((path) => existsSync(join(root, path)));
  if (taken) throw new Error(`${taken} exists already.\n${USAGE}`);
}

/** redocly.yaml writes patterns between slashes. */
const regExpOf = (text) => new RegExp(text.slice(1, -1));
