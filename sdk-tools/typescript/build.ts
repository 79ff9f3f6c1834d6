import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { projectRoot } from '../../src/config/project-root.js';
import { withLock } from '../../src/development/embedded-postgres/lock.js';
import { CONTRACT_FILE, readContract } from '../contract.js';
import { writePackageFiles } from '../parts/package-files.js';
import { writeReference, type CallStyle } from '../parts/reference.js';
import { RETRIES_FILE } from '../retries.js';
import { runTool } from '../tool.js';
import { generateCore } from './core.js';
import { generateMethods } from './methods.js';
import { retriesSource } from './retries.js';

const folder = join(projectRoot, 'sdk', 'typescript');
const output = join(folder, 'dist');
const stamp = join(output, '.built');
const generated = join(folder, 'src', 'generated');
const generatedStamp = join(generated, '.made');
const locks = join(projectRoot, 'node_modules', '.cache', 'sdk-typescript');

/**
 * Generates the core with openapi-ts, compiles it with the hand-written layer, and bundles it for browsers, unless
 * `sdk/typescript/dist` is up to date.
 */
export async function buildTypescript(): Promise<void> {
  await mkdir(locks, { recursive: true });
  // Two test files may need the SDK at the same time.
  await withLock(locks, buildIfStale);
}

/** Generates the core with openapi-ts, unless it is up to date. Bundlers can then read the sources of the SDK. */
export async function generateTypescript(): Promise<void> {
  await mkdir(locks, { recursive: true });
  await withLock(locks, async () => generateIfStale(await hashOfInputs()));
}

async function generateIfStale(inputs: string): Promise<void> {
  if ((await readFile(generatedStamp, 'utf8').catch(() => '')) === inputs) return;
  await rm(generated, { recursive: true, force: true });
  const contract = await readContract();
  await generateCore(contract, join(generated, 'core'));
  await generateMethods(contract, join(generated, 'methods.ts'));
  await writeFile(join(generated, 'retries.ts'), retriesSource());
  await writeFile(generatedStamp, inputs);
}

async function buildIfStale(): Promise<void> {
  // They take no time, and a line in the changelog does not make the build stale.
  await writePackageFiles(folder);
  await writeReference(folder, 'TypeScript and JavaScript', styleOfCall);
  const inputs = await hashOfInputs();
  await generateIfStale(inputs);
  if ((await readFile(stamp, 'utf8').catch(() => '')) === inputs) return;
  await rm(output, { recursive: true, force: true });
  const compiler = join(projectRoot, 'node_modules/typescript-7/bin/tsc');
  const compile = (args: string[]) =>
    runTool({ program: process.execPath, args: [compiler, '-p', 'tsconfig.json', ...args], folder });
  await compile([]);
  // The same sources and types for programs that use require().
  await compile(COMMON_JS);
  await writeFile(join(output, 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
  await bundle({
    entryPoints: [join(output, 'index.js')],
    outfile: join(output, 'browser', 'crossdock.min.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
  });
  // One file that needs only Node.js, also without this package.
  await bundle({
    entryPoints: [join(output, 'listen', 'crossdock-listen.js')],
    outfile: join(output, 'crossdock-listen.mjs'),
    bundle: true,
    banner: { js: '#!/usr/bin/env node' },
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
  });
  await chmod(join(output, 'crossdock-listen.mjs'), 0o755);
  await writeFile(stamp, inputs);
}

const styleOfCall: CallStyle = ({ operation: { id }, group, method, required }) => {
  const client = id === 'submitPrealert' ? 'keyClient' : 'client';
  return `${client}.${group}.${method}(${required.length > 0 ? `{ ${required.join(', ')} }` : ''})`;
};

const COMMON_JS = [
  '--module',
  'commonjs',
  '--moduleResolution',
  'bundler',
  '--verbatimModuleSyntax',
  'false',
  '--outDir',
  'dist/cjs',
];

/** Returns a hash of everything that the build reads. */
async function hashOfInputs(): Promise<string> {
  const sources = [
    CONTRACT_FILE,
    RETRIES_FILE,
    join(projectRoot, 'sdk-tools', 'repeatable.ts'),
    join(projectRoot, 'sdk-tools', 'parts', 'page-size.ts'),
    join(projectRoot, 'sdk-tools', 'names.ts'),
    join(projectRoot, 'package-lock.json'),
    join(folder, 'package.json'),
    join(folder, 'tsconfig.json'),
    ...(await filesIn(join(folder, 'src'))),
    ...(await filesIn(join(projectRoot, 'sdk-tools', 'typescript'))),
  ];
  const hash = createHash('sha256');
  for (const path of sources) hash.update(path).update(await readFile(path));
  return hash.digest('hex');
}

async function filesIn(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(`${parent}/generated`))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
