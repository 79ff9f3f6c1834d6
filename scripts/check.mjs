// npm run check: the whole gate, quick to fail, one line a step. `-- --no-tests` leaves the tests to npm test.
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { prepare, root } from './prepare.mjs';

// The steps of one list run side by side: linting, the longest, leaves a core idle.
const STEPS = [
  [
    ['format', () => runNode('node_modules/prettier/bin/prettier.cjs', '--check', '.')],
    ['lint', () => runNode('node_modules/eslint/bin/eslint.js', '.', '--max-warnings', '0')],
    ['types', () => runNode('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json')],
    ['contract', lintContract],
  ],
  [['generated', compareGenerated]],
  // every row once on little data, from the build that prepare() has made
  [['bench', () => runNode('dist/scripts/bench.js', '--smoke')]],
  [['tests', runTests]],
];

prepare();
const skipped = process.argv.includes('--no-tests') ? 'tests' : undefined;
for (const steps of STEPS) {
  const passed = await Promise.all(
    steps.map(async ([name, run]) => name === skipped || report(name, await timed(run))),
  );
  if (passed.includes(false)) break;
}

async function timed(run) {
  const startMs = performance.now();
  const fault = await run();
  return { fault, seconds: ((performance.now() - startMs) / 1000).toFixed(1) };
}

/** Answers whether the step passed. */
function report(name, { fault, seconds }) {
  if (fault) process.stdout.write(`${fault.trimEnd()}\n`);
  process.stdout.write(`${name.padEnd(9)} ${fault ? 'FAILED' : 'ok'} ${seconds} s\n`);
  // exit() would cut what a pipe has not taken yet
  if (fault) process.exitCode = 1;
  return !fault;
}

/** Answers what the program said when it failed, else nothing. */
async function runNode(...args) {
  const { code, output } = await start(args, ['ignore', 'pipe', 'pipe']);
  return code === 0 ? '' : output || `${args[0]} ended with ${code}.`;
}

/** Warnings fail too, which redocly itself lets pass. */
async function lintContract() {
  const lint = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--max-problems', '50'];
  const { code, output } = await start(lint, ['ignore', 'pipe', 'pipe']);
  const isClean = code === 0 && !/\b[1-9]\d* (warning|error)/.test(output);
  return isClean ? '' : output || 'redocly lint failed.';
}

/** Generates anew and names what was not up to date; the new files stay, for that is what was missing. */
async function compareGenerated() {
  const before = await readGenerated();
  const fault = await runNode('scripts/generate.mjs');
  if (fault) return fault;
  const after = await readGenerated();
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const stale = names.filter((name) => before.get(name) !== after.get(name));
  return stale.map((name) => `${name} was not up to date; npm run generate has made it anew`).join('\n');
}

async function readGenerated() {
  const entries = await readdir(join(root, 'generated'), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(
    paths.map(async (path) => [relative(root, path), await readFile(path, 'utf8')]),
  );
  return new Map(contents);
}

/** They take minutes: what they say is shown as it comes. */
async function runTests() {
  const { code } = await start(['scripts/test.mjs'], ['ignore', 'inherit', 'inherit']);
  return code === 0 ? '' : 'Tests failed.';
}

function start(args, stdio) {
  const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const child = spawn(process.execPath, args, { cwd: root, env: environment, stdio });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
