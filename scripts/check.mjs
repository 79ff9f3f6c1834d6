// npm run check: the whole gate, one line per step. `-- --no-tests` leaves the tests to npm test.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative, sep } from 'node:path';
import { prepare, root } from './prepare.mjs';

// Runs as many steps in parallel as there are cores, the longest first. No step writes a file that another step reads.
const STEPS = [
  ['lint', lint],
  // Runs every row once on little data, from the build that prepare() has made.
  ['bench', () => runNode('dist/scripts/measure/bench.js', '--smoke')],
  ['format', () => runNode('node_modules/oxfmt/bin/oxfmt', '--check')],
  // With several threads it uses twice the CPU time, and the other steps need the cores.
  ['types', () => checkTypes('tsconfig.json')],
  // prepare() has generated the types of the SDK.
  ['console', () => checkTypes('console/tsconfig.json')],
  ['generated', compareGenerated],
  ['unused', () => runNode('node_modules/knip/bin/knip.js', '--no-progress')],
  ['contract', lintContract],
  // Compares with the last release.
  ['release', () => runNode('dist/scripts/contract-diff/contract-diff.js')],
];

// The files that scripts/generate.mjs reads, and where they are copied to.
const SOURCES = [
  ...['openapi', 'prisma', 'prisma.config.ts', 'redocly.yaml', 'scripts'],
  ...['package.json', 'package-lock.json'],
  ...['docs/site', 'CHANGELOG.md', 'sdk'].filter((name) => existsSync(join(root, name))),
];
const SCHEMA = 'generated/schema.json';
const COPY = join(root, 'node_modules', '.cache', 'check-generated');

prepare();
const waiting = [...STEPS];
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
if (!process.exitCode && !process.argv.includes('--no-tests')) await runStep('tests', runTests);

/** Runs one step after another until none is left or one has failed. */
async function runWaiting() {
  while (waiting.length > 0 && !process.exitCode) await runStep(...waiting.shift());
}

async function runStep(name, run) {
  report(name, await timed(run));
}

async function timed(run) {
  const startMs = performance.now();
  const fault = await run();
  return { fault, seconds: ((performance.now() - startMs) / 1000).toFixed(1) };
}

function report(name, { fault, seconds }) {
  if (fault) process.stdout.write(`${fault.trimEnd()}\n`);
  process.stdout.write(`${name.padEnd(9)} ${fault ? 'FAILED' : 'ok'} ${seconds} s\n`);
  // exit() would discard output that a pipe has not accepted yet.
  if (fault) process.exitCode = 1;
}

/** Returns the output of the program if it failed, otherwise an empty string. */
async function runNode(...args) {
  const { code, output } = await start(args, ['ignore', 'pipe', 'pipe']);
  return code === 0 ? '' : output || `${args[0]} ended with ${code}.`;
}

function checkTypes(project) {
  return runNode('node_modules/typescript-7/bin/tsc', '-p', project, '--singleThreaded');
}

/** The rules need the types of the SDK's generated core, so the SDK is built first. That also checks the SDK's types. */
async function lint() {
  const fault = await runNode('dist/sdk-tools/sdk.js', 'ts');
  return fault || runNode('node_modules/oxlint/bin/oxlint', '--deny-warnings');
}

/** Fails on warnings too; redocly itself exits with 0. */
async function lintContract() {
  const lint = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--max-problems', '50'];
  const { code, output } = await start(lint, ['ignore', 'pipe', 'pipe']);
  const isClean = code === 0 && !/\b[1-9]\d* (warning|error)/.test(output);
  return isClean ? '' : output || 'redocly lint failed.';
}

/**
 * Generates in a copy of the sources, because the other steps read generated/ meanwhile, and returns the names of the files
 * that were not up to date. Replaces generated/ if there are any.
 */
async function compareGenerated() {
  await rm(COPY, { recursive: true, force: true });
  await mkdir(COPY, { recursive: true });
  for (const name of SOURCES)
    await cp(join(root, name), join(COPY, name), { recursive: true, filter: isSource });
  // Made from a database, which test/database/schema/expected.test.ts compares.
  await cp(join(root, SCHEMA), join(COPY, SCHEMA));
  const fault = await runNode(join(COPY, 'scripts/generate.mjs'));
  if (fault) return fault;
  const [before, after] = [await readGenerated(root), await readGenerated(COPY)];
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const stale = names.filter((name) => before.get(name) !== after.get(name));
  if (stale.length > 0) {
    await rm(join(root, 'generated'), { recursive: true, force: true });
    await cp(join(COPY, 'generated'), join(root, 'generated'), { recursive: true });
  }
  await rm(COPY, { recursive: true });
  return stale.map((name) => `${name} was not up to date. It is now; commit it.`).join('\n');
}

/** Of sdk/, only the READMEs, because builds are large. */
function isSource(path) {
  const [top, ...rest] = relative(root, path).split(sep);
  return top !== 'sdk' || rest.length < 2 || (rest.length === 2 && rest[1] === 'README.md');
}

async function readGenerated(folder) {
  const entries = await readdir(join(folder, 'generated'), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(
    paths.map(async (path) => [relative(folder, path), await readFile(path, 'utf8')]),
  );
  return new Map(contents);
}

/** The tests take minutes, so their output is shown immediately. */
async function runTests() {
  const { code } = await start(['scripts/test.mjs'], ['ignore', 'inherit', 'inherit']);
  return code === 0 ? '' : 'Tests failed.';
}

function start(args, stdio) {
  // As in scripts/run.mjs: a clone is for development.
  const development = { APP_ENV: process.env.APP_ENV || 'development' };
  const environment = {
    ...process.env,
    ...development,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  };
  const child = spawn(process.execPath, args, { cwd: root, env: environment, stdio });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
