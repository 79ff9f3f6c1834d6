import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { Contract } from './openapi.js';

const run = promisify(execFile);
const require = createRequire(import.meta.url);

/** Returns openapi/ as one document. */
export async function bundleFiles(root: string): Promise<Contract> {
  const target = join(root, 'node_modules', '.cache', 'openapi-bundle.json');
  await mkdir(dirname(target), { recursive: true });
  await runTool(root, '@redocly/cli', ['bundle', 'openapi/openapi.yaml', '-o', target], {
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  });
  // `npm run lint:contract` checks what Redocly writes.
  return JSON.parse(await readFile(target, 'utf8')) as Contract;
}

/** Returns the content of a YAML file of the project. The caller knows its form. */
export async function readYaml<Content>(root: string, path: string): Promise<Content> {
  return parse(await readFile(join(root, path), 'utf8')) as Content;
}

/** Runs the program of a package in `root`. */
export async function runTool(
  root: string,
  packageName: string,
  args: string[],
  settings: Record<string, string>,
): Promise<void> {
  await run(process.execPath, [programOf(packageName), ...args], {
    cwd: root,
    env: { ...process.env, ...settings },
  });
}

function programOf(packageName: string): string {
  const manifest = require.resolve(`${packageName}/package.json`);
  // npm requires this form.
  const { bin } = require(manifest) as { bin: string | Record<string, string> };
  const program = typeof bin === 'string' ? bin : Object.values(bin)[0];
  if (!program) throw new Error(`${packageName} has no program.`);
  return join(dirname(manifest), program);
}
